package objectstream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
	"github.com/acpkit/go-sdk/stream/streamtest"
)

// sockets returns the two ends of a connection over the loopback interface.
func sockets(t testing.TB) (x, y net.Conn) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	x, err = net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	y, err = listener.Accept()
	require.NoError(t, err)
	return x, y
}

func vscode(conn net.Conn) stream.Stream {
	return objectstream.New(jsonrpc2.NewBufferedStream(conn, jsonrpc2.VSCodeObjectCodec{}), nil)
}

func plain(conn net.Conn) stream.Stream {
	return objectstream.New(jsonrpc2.NewPlainObjectStream(conn), nil)
}

func framed(conn net.Conn) stream.Stream { return objectstream.ContentLength(conn, conn, nil) }

func lines(conn net.Conn) stream.Stream { return stream.Lines(conn, conn, nil) }

func TestContract(t *testing.T) {
	for name, ends := range map[string][2]func(net.Conn) stream.Stream{
		"plain objects":                   {plain, plain},
		"plain objects and lines":         {plain, lines},
		"the library's frames":            {vscode, vscode},
		"frames":                          {framed, framed},
		"frames and the library's frames": {framed, vscode},
	} {
		t.Run(name, func(t *testing.T) {
			streamtest.Test(t, func() (a, b stream.Stream) {
				x, y := sockets(t)
				return ends[0](x), ends[1](y)
			})
		})
	}
	t.Run("frames over io.Pipe", func(t *testing.T) {
		streamtest.Test(t, func() (a, b stream.Stream) {
			r1, w1 := io.Pipe()
			r2, w2 := io.Pipe()
			return objectstream.ContentLength(r1, w2, nil), objectstream.ContentLength(r2, w1, nil)
		})
	})
}

func frame(msg string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(msg), msg) }

func TestFramesThatAreRead(t *testing.T) {
	const msg = `{"jsonrpc":"2.0","method":"m"}`
	long := `{"jsonrpc":"2.0","id":7,"method":"m","params":"` + strings.Repeat("x", 200_000) + `"}`
	for name, test := range map[string]struct {
		in   string
		want []string // messages; an entry that begins with "!" is the text of an error
	}{
		"nothing":                  {"", []string{"!EOF"}},
		"two frames":               {frame(msg) + frame(msg), []string{msg, msg, "!EOF"}},
		"other fields":             {"Content-Type: x\r\ncontent-length:  " + frame(msg)[len("Content-Length: "):], []string{msg, "!EOF"}},
		"line feeds alone":         {strings.ReplaceAll(frame(msg), "\r", ""), []string{msg, "!EOF"}},
		"an empty frame":           {frame("") + frame(msg), []string{msg, "!EOF"}},
		"a long frame":             {frame(long) + frame(msg), []string{"!stream: message of 200049 bytes is longer than the limit of 100000", msg, "!EOF"}},
		"no length":                {"Content-Type: x\r\n\r\n" + msg, []string{"!objectstream: a frame has no Content-Length"}},
		"a bad length":             {"Content-Length: -1\r\n\r\n", []string{"!objectstream: a frame has no valid Content-Length"}},
		"two lengths":              {"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", []string{"!objectstream: a frame has no valid Content-Length"}},
		"an endless field":         {strings.Repeat("x", 10_000), []string{"!objectstream: the header of a frame is longer than 4096 bytes"}},
		"endless fields":           {strings.Repeat("a: b\r\n", 10_000), []string{"!objectstream: the header of a frame is longer than 4096 bytes"}},
		"the end in a header":      {"Content-Len", []string{"!objectstream: reading: unexpected EOF"}},
		"the end before a message": {"Content-Length: 5\r\n\r\n", []string{"!objectstream: reading: unexpected EOF"}},
		"the end in a message":     {"Content-Length: 5\r\n\r\n{", []string{"!objectstream: reading: unexpected EOF"}},
		"the end in a long frame":  {frame(long)[:150_000], []string{"!objectstream: reading: unexpected EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := objectstream.ContentLength(strings.NewReader(test.in), io.Discard, &objectstream.Options{MaxMessage: 100_000})
			var got []string
			for {
				b, err := s.Read()
				if err == nil {
					got = append(got, string(b))
					continue
				}
				got = append(got, "!"+err.Error())
				if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
					assert.Equal(t, stream.TooLargeError{Method: "m", ID: json.RawMessage("7"), Size: int64(len(long)), Limit: 100_000}, *large)
					continue
				}
				_, again := s.Read()
				assert.Equal(t, err, again, "a final error stays")
				break
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// A large Content-Length allocates no memory before the message has arrived.
func TestPromisedLengthIsNotAllocated(t *testing.T) {
	header := []byte(fmt.Sprintf("Content-Length: %d\r\n\r\n{", stream.DefaultMaxMessage))
	const n = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		_, err := objectstream.ContentLength(bytes.NewReader(header), io.Discard, nil).Read()
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n<<20))
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(frame("{}")), 10)
	f.Add([]byte("Content-Length: 3\r\n\r\n{}"), 1)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		s := objectstream.ContentLength(bytes.NewReader(in), io.Discard, &objectstream.Options{MaxMessage: limit})
		for {
			msg, err := s.Read()
			if err != nil && !errors.As(err, new(*stream.TooLargeError)) {
				return
			}
			if err == nil && limit > 0 && len(msg) > limit {
				t.Fatalf("a message of %d bytes", len(msg))
			}
		}
	})
}

func TestObjectsThatAreRefused(t *testing.T) {
	x, y := sockets(t)
	s := vscode(x)
	defer s.Close()
	defer y.Close()
	for _, msg := range []string{"", "{", "\xff"} {
		require.ErrorAs(t, s.Write([]byte(msg)), new(*stream.MessageError), msg)
	}
	require.NoError(t, s.Write([]byte(`{"a":"<"}`)), "the stream stays usable")
	_, err := io.WriteString(y, frame("{"))
	require.NoError(t, err)
	_, err = s.Read()
	require.Error(t, err)

	limited := objectstream.New(jsonrpc2.NewPlainObjectStream(nopCloser{strings.NewReader(`{"id":1,"result":"` + strings.Repeat("x", 100) + `"}{}`)}), &objectstream.Options{MaxMessage: 50})
	_, err = limited.Read()
	large, ok := errors.AsType[*stream.TooLargeError](err)
	require.True(t, ok, err)
	assert.True(t, large.HasResult)
	msg, err := limited.Read()
	require.NoError(t, err)
	assert.Equal(t, "{}", string(msg))
	_, err = limited.Read()
	assert.Equal(t, io.EOF, err)
}

type nopCloser struct{ io.Reader }

func (nopCloser) Write(b []byte) (int, error) { return len(b), nil }
func (nopCloser) Close() error                { return nil }
