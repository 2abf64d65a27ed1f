package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

func TestLinesSplitAtEveryByte(t *testing.T) {
	in := "\ufeff{\"a\":\"é\"}\r\n\r\n\u00a0\n" + `{"id":"\"x","params":{"id":2},"method":"m\u00e9"}` + "\n{}\r\n{\"b\":1}"
	for limit := 1; limit < 60; limit++ {
		opts := &stream.LinesOptions{MaxMessage: limit}
		want := readAll(t, stream.Lines(strings.NewReader(in), nil, opts))
		for cut := range len(in) + 1 {
			r := io.MultiReader(strings.NewReader(in[:cut]), strings.NewReader(in[cut:]))
			require.Equal(t, want, readAll(t, stream.Lines(r, nil, opts)), "limit %d, cut at %d", limit, cut)
		}
	}
}

func TestLinesAroundBufferSizes(t *testing.T) {
	for _, size := range []int{4095, 4096, 4097, 16_383, 16_384, 16_385, 65_534, 65_535, 65_536, 65_537, 131_072, 131_073} {
		long := `{"x":"` + strings.Repeat("y", size-8) + `"}`
		want := []string{"{}", long, "{}", long, long, "{}"}
		for _, end := range []string{"\n", "\r\n"} {
			for _, piece := range []byte{0, 99, 255} {
				r := &pieces{data: []byte(strings.Join(want, end)), lengths: []byte{piece}}
				if piece == 0 {
					r.lengths = nil
				}
				got := readAll(t, stream.Lines(r, nil, nil))
				require.Len(t, got, len(want))
				for i := range want {
					require.True(t, want[i] == got[i], "message %d with size %d in pieces of %d", i, size, piece)
				}
			}
		}
	}
}

var xs = strings.Repeat("x", 64<<10)

// endless returns a line of n bytes and measures the heap while it is read.
type endless struct {
	left, most uint64
	head       string
	reads      int
	piece      int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.reads++; e.reads%500 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.most = max(e.most, m.HeapAlloc)
	}
	if e.head != "" {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	n := int(min(uint64(min(len(p), e.piece)), e.left))
	for i := 0; i < n; {
		i += copy(p[i:n], xs)
	}
	e.left -= uint64(n)
	if e.left == 0 {
		p[n-1] = '\n'
	}
	return n, nil
}

// raceEnabled reports whether the race detector is on.
var raceEnabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

func TestLinesHugeLineIsNotHeld(t *testing.T) {
	size, limit := uint64(1<<30), 4<<20
	if testing.Short() || raceEnabled {
		size = 32 << 20
	}
	for name, piece := range map[string]int{"fast": 1 << 20, "in small pieces": 999} {
		t.Run(name, func(t *testing.T) {
			size := size
			if piece < 1000 {
				size /= 2
			}
			var before runtime.MemStats // the baseline includes what earlier tests left
			runtime.GC()
			runtime.ReadMemStats(&before)
			e := &endless{left: size, head: `{"id":42,"result":"`, piece: piece}
			s := stream.Lines(e, nil, &stream.LinesOptions{MaxMessage: limit})
			_, err := s.Read()
			large, ok := errors.AsType[*stream.TooLargeError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, "42", string(large.ID))
			assert.True(t, large.HasResult)
			assert.Less(t, e.most, before.HeapAlloc+uint64(limit+32<<20), "heap")
		})
	}
}

func TestLinesReaderErrors(t *testing.T) {
	boom := errors.New("boom")
	t.Run("after a message", func(t *testing.T) {
		s := stream.Lines(io.MultiReader(strings.NewReader("{}\n{\"half"), errReader{boom}), nil, nil)
		receive(t, s)
		for range 2 {
			_, err := s.Read()
			assert.ErrorIs(t, err, boom, "half a message is dropped, the error stays")
		}
	})
	t.Run("in a long line", func(t *testing.T) {
		for _, limit := range []int{100, 1 << 20} {
			s := stream.Lines(io.MultiReader(strings.NewReader(strings.Repeat("x", 200_000)), errReader{boom}), nil,
				&stream.LinesOptions{MaxMessage: limit})
			_, err := s.Read()
			assert.ErrorIs(t, err, boom)
		}
	})
	t.Run("no progress", func(t *testing.T) {
		_, err := stream.Lines(errReader{nil}, nil, nil).Read()
		assert.ErrorIs(t, err, io.ErrNoProgress)
	})
	t.Run("wrapped end", func(t *testing.T) {
		_, err := stream.Lines(errReader{fmt.Errorf("closed by peer: %w", io.EOF)}, nil, nil).Read()
		assert.ErrorIs(t, err, io.EOF)
	})
	t.Run("nil", func(t *testing.T) {
		s := stream.Lines(nil, nil, nil)
		_, err := s.Read()
		assert.ErrorIs(t, err, io.EOF)
		assert.Error(t, s.Write([]byte("{}")))
		assert.NoError(t, s.Close())
	})
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestLinesWriterErrors(t *testing.T) {
	t.Run("short writes", func(t *testing.T) {
		var out bytes.Buffer
		s := stream.Lines(nil, writerFunc(func(b []byte) (int, error) { return out.Write(b[:min(3, len(b))]) }), nil)
		require.NoError(t, s.Write([]byte(`{"hello":"world"}`)))
		assert.Equal(t, "{\"hello\":\"world\"}\n", out.String())
	})
	t.Run("nothing written", func(t *testing.T) {
		s := stream.Lines(nil, writerFunc(func([]byte) (int, error) { return 0, nil }), nil)
		assert.ErrorIs(t, s.Write([]byte("{}")), io.ErrShortWrite)
	})
	t.Run("impossible count", func(t *testing.T) {
		s := stream.Lines(nil, writerFunc(func(b []byte) (int, error) { return len(b) + 1, nil }), nil)
		assert.Error(t, s.Write([]byte("{}")))
	})
	t.Run("a cut frame is the last", func(t *testing.T) {
		var out bytes.Buffer
		boom := errors.New("boom")
		s := stream.Lines(nil, writerFunc(func(b []byte) (int, error) {
			out.Write(b[:1])
			return 1, boom
		}), nil)
		assert.ErrorIs(t, s.Write([]byte("{}")), boom)
		assert.ErrorIs(t, s.Write([]byte("{}")), boom)
		assert.Equal(t, "{", out.String())
	})
}

// Descriptors may be inherited in non-blocking mode.
func TestLinesNonBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		var out bytes.Buffer
		calls := 0
		w := writerFunc(func(b []byte) (int, error) {
			if calls++; calls%3 != 0 {
				return 0, &os.PathError{Op: "write", Path: "stdout", Err: syscall.EAGAIN}
			}
			return out.Write(b[:1])
		})
		r := readerFunc(func(b []byte) (int, error) {
			if calls++; calls%3 != 0 {
				return 0, &os.PathError{Op: "read", Path: "stdin", Err: syscall.EAGAIN}
			}
			return copy(b, "{}\n"), nil
		})
		s := stream.Lines(r, w, nil)
		require.NoError(t, s.Write([]byte("{}")))
		assert.Equal(t, "{}\n", out.String())
		assert.Equal(t, "{}", receive(t, s))
	})
}

func TestLinesNonBlockingClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		never := func([]byte) (int, error) { return 0, syscall.EAGAIN }
		s := stream.Lines(readerFunc(never), writerFunc(never), nil)
		ended := make(chan error, 2)
		go func() { // ends with the close
			_, err := s.Read()
			ended <- err
		}()
		go func() { ended <- s.Write([]byte("{}")) }() // ends with the close
		time.Sleep(time.Minute)                        // synctest time
		require.NoError(t, s.Close())
		assert.ErrorIs(t, <-ended, stream.ErrClosed)
		assert.ErrorIs(t, <-ended, stream.ErrClosed)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// closer records that it was closed.
type closer struct {
	io.Reader
	io.Writer
	name string
	log  *[]string
	err  error
	_    []int // makes the type not comparable
}

func (c closer) Close() error {
	*c.log = append(*c.log, c.name)
	return c.err
}

type halfCloser struct{ *closer }

func (h halfCloser) CloseWrite() error {
	*h.log = append(*h.log, "write side of "+h.name)
	return nil
}

func TestLinesCloseOrder(t *testing.T) {
	var log []string
	boom := errors.New("boom")
	s := stream.Lines(closer{name: "r", log: &log}, closer{name: "w", log: &log, err: boom}, nil)
	assert.ErrorIs(t, s.Close(), boom)
	assert.ErrorIs(t, s.Close(), boom)
	assert.Equal(t, []string{"w", "r"}, log)

	log = nil
	both := halfCloser{&closer{name: "both", log: &log}}
	require.NoError(t, stream.Lines(both, both, nil).Close())
	assert.Equal(t, []string{"write side of both", "both"}, log)

	log = nil
	odd := closer{name: "odd", log: &log}
	require.NoError(t, stream.Lines(odd, odd, nil).Close(), "values that cannot be compared")
	assert.Equal(t, []string{"odd", "odd"}, log)
}

func TestLinesNoiseIsBounded(t *testing.T) {
	var noise []string
	in := "hello\n" + strings.Repeat("a", 10_000) + "\n{}\n" + strings.Repeat("b", 200_000) + "\n{\"" + strings.Repeat("c", 200_000) + "\n{}"
	s := stream.Lines(strings.NewReader(in), nil, &stream.LinesOptions{
		Tolerant: true, MaxMessage: 100_000, OnNoise: func(line string) { noise = append(noise, line) },
	})
	assert.Equal(t, []string{"{}", "{}"}, readAll(t, s))
	require.Len(t, noise, 4)
	assert.Equal(t, "hello", noise[0])
	for _, line := range noise[1:] {
		assert.Len(t, line, 4096)
	}
}
