package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// readAll reads to the end. A message that was too long becomes "too large: ...".
func readAll(t testing.TB, s stream.Stream) []string {
	t.Helper()
	var got []string
	for {
		msg, err := s.Read()
		if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
			assert.Nil(t, msg)
			got = append(got, fmt.Sprintf("too large: %s %s %v", large.Method, large.ID, large.HasResult))
			continue
		}
		if errors.Is(err, io.EOF) {
			return got
		}
		require.NoError(t, err)
		got = append(got, string(msg))
	}
}

var lineCases = []struct {
	name string
	in   string
	want []string
}{
	{"nothing", "", nil},
	{"one", "{}\n", []string{"{}"}},
	{"crlf", "{\"a\":1}\r\n{}\r\n", []string{`{"a":1}`, "{}"}},
	{"blank lines", "\n\n{}\n\r\n \t\n\n{}\n", []string{"{}", "{}"}},
	{"white space around", "  \t {} \t \n", []string{"{}"}},
	{"no-break space only", "\u00a0\n{}\n", []string{"{}"}},
	{"wide white space around", "\u2003\u3000{}\u00a0\u2028\n", []string{"{}"}},
	{"byte order mark on every line", "\ufeff{}\n\ufeff{}\n", []string{"{}", "{}"}},
	{"byte order mark alone", "\ufeff\n{}\n", []string{"{}"}},
	{"last line without end", "{}\n{\"a\"", []string{"{}", `{"a"`}},
	{"last line of white space", "{}\n  ", []string{"{}"}},
	{"last line ends in CR", "{}\r", []string{"{}"}},
	{"invalid UTF-8 is kept", "\"\xe2\x80\"\n\xff\n", []string{"\"\xe2\x80\"", "\xff"}},
	{"NUL is kept", "\x00{}\x00\n", []string{"\x00{}\x00"}},
	{"lone CR is no end", "{\r}\n", []string{"{\r}"}},
	{"noise is kept", "hello\n42\n[]\n", []string{"hello", "42", "[]"}},
}

func TestLinesRead(t *testing.T) {
	for _, c := range lineCases {
		for name, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "one byte": iotest.OneByteReader,
			"half": iotest.HalfReader, "error with data": iotest.DataErrReader,
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				s := stream.Lines(reader(strings.NewReader(c.in)), nil, nil)
				assert.Equal(t, c.want, readAll(t, s))
				_, err := s.Read()
				assert.ErrorIs(t, err, io.EOF, "the end stays the end")
			})
		}
	}
}

func TestLinesLimit(t *testing.T) {
	const limit = 100
	body := func(n int) string { return `{"x":"` + strings.Repeat("y", n-8) + `"}` }
	request := `{"jsonrpc":"2.0","id":7,"method":"fs/read","params":"` + strings.Repeat("y", 200) + `"}`
	behind := `{"params":{"id":1,"x":["\"","` + strings.Repeat(`\\`, 100) + `"]},"method":"fs\/r","id":"a\"b"}`
	response := `{"result":"` + strings.Repeat("y", 200) + `", "id" : 12e3 , "jsonrpc":"2.0"}`
	failure := `{"error":{"code":1,"message":"` + strings.Repeat("y", 200) + `"},"id":null}`
	for _, c := range []struct {
		name string
		in   string
		want []string
	}{
		{"at the limit", body(limit) + "\n{}\n", []string{body(limit), "{}"}},
		{"CR does not count", body(limit) + "\r\n{}\n", []string{body(limit), "{}"}},
		{"one more", body(limit+1) + "\n{}\n", []string{"too large:   false", "{}"}},
		{"one more and CR", body(limit+1) + "\r\n{}\n", []string{"too large:   false", "{}"}},
		{"CR within", body(limit)[:limit-1] + "\r}\n{}\n", []string{"too large:   false", "{}"}},
		{"without end", body(limit + 1), []string{"too large:   false"}},
		{"at the limit without end", body(limit) + "\r", []string{body(limit)}},
		{"request", request + "\n{}", []string{"too large: fs/read 7 false", "{}"}},
		{"behind the payload", behind + "\n{}", []string{`too large: fs/r "a\"b" false`, "{}"}},
		{"response", response + "\n{}", []string{"too large:  12e3 true", "{}"}},
		{"error response", failure + "\n{}", []string{"too large:  null true", "{}"}},
		{"byte order mark before", "\ufeff" + request + "\n{}", []string{"too large: fs/read 7 false", "{}"}},
		{"escaped key", strings.Replace(request, `"id"`, `"\u0069d"`, 1) + "\n{}", []string{"too large: fs/read 7 false", "{}"}},
		{"two ids", strings.Replace(request, `"id":7`, `"id":7,"id":8`, 1) + "\n{}", []string{"too large: fs/read  false", "{}"}},
		{"id is an object", strings.Replace(request, `7`, `{"id":7}`, 1) + "\n{}", []string{"too large: fs/read  false", "{}"}},
		{"id in params only", strings.Replace(request, `"id":7,`, ``, 1) + "\n{}", []string{"too large: fs/read  false", "{}"}},
		{"huge id", `{"id":"` + strings.Repeat("1", 2000) + `","method":"m"}` + "\n{}", []string{"too large: m  false", "{}"}},
		{"cut off", request[:180] + "\n{}", []string{"too large: fs/read 7 false", "{}"}},
		{"no object", strings.Repeat("[", 200) + "\n{}", []string{"too large:   false", "{}"}},
		{"blank", strings.Repeat(" ", 200) + "\n{}", []string{"{}"}},
	} {
		for name, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "one byte": iotest.OneByteReader,
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				s := stream.Lines(reader(strings.NewReader(c.in)), nil, &stream.LinesOptions{MaxMessage: limit})
				assert.Equal(t, c.want, readAll(t, s))
			})
		}
	}
}

func TestLinesTooLargeTellsSizes(t *testing.T) {
	s := stream.Lines(strings.NewReader(strings.Repeat("x", 70_000)+"\r\n"), nil, &stream.LinesOptions{MaxMessage: 1000})
	_, err := s.Read()
	large, ok := errors.AsType[*stream.TooLargeError](err)
	require.True(t, ok)
	assert.Equal(t, &stream.TooLargeError{Size: 70_000, Limit: 1000}, large)
}

func TestLinesLongMethodIsCut(t *testing.T) {
	for _, unit := range []string{"m", `\n`, `\u00e9`, "é", `\ud83d\ude00`} {
		in := `{"method":"` + strings.Repeat(unit, 1<<15) + `","id":5}` + "\n{}\n"
		s := stream.Lines(strings.NewReader(in), nil, &stream.LinesOptions{MaxMessage: 1000})
		_, err := s.Read()
		large, ok := errors.AsType[*stream.TooLargeError](err)
		require.True(t, ok)
		assert.LessOrEqual(t, len(large.Method), 256)
		assert.Greater(t, len(large.Method), 250)
		assert.NotContains(t, large.Method, "\ufffd", "no character is cut in two")
		assert.Equal(t, "5", string(large.ID))
	}
}

func TestLinesWrite(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", 200_000) + `"}`
	edge := strings.Repeat("z", 65_535)
	for name, msgs := range map[string][]string{
		"one": {"{}"}, "several": {"{}", `{"a":1}`, "3"}, "long": {long}, "long among short": {"{}", long, "{}", long, edge, edge + "z", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			var single, batch bytes.Buffer
			s := stream.Lines(nil, &single, nil)
			var all [][]byte
			for _, m := range msgs {
				require.NoError(t, s.Write([]byte(m)))
				all = append(all, []byte(m))
			}
			require.NoError(t, stream.FeaturesOf(stream.Lines(nil, &batch, nil)).WriteBatch(all))
			want := strings.Join(msgs, "\n") + "\n"
			assert.Equal(t, want, single.String())
			assert.Equal(t, want, batch.String())
		})
	}
}

// Readers of lines that split at more than a line feed get a message whole.
func TestLinesWriteOneLine(t *testing.T) {
	var out bytes.Buffer
	s := stream.Lines(nil, &out, nil)
	require.NoError(t, s.Write([]byte("{\r\n\"a\":\"\u2028\u2029\u0085\"\n}\n")))
	assert.Equal(t, `{  "a":"\u2028\u2029\u0085" } `+"\n", out.String())
}

// A long message is made one line in pieces, and no separator is lost where one ends.
func TestLinesWriteLongOnOneLine(t *testing.T) {
	for _, sign := range []string{"\u2028", "\u0085", "\u2029\x80", "\u2029\x80\x80\x80", "\n", "🙂", "x"} {
		for shift := range 8 {
			var out bytes.Buffer
			msg := "{" + strings.Repeat(" ", shift) + strings.Repeat(sign, 600<<10/len(sign)) + "}"
			require.NoError(t, stream.Lines(nil, &out, nil).Write([]byte(msg)))
			want := strings.NewReplacer("\n", " ", "\u2028", `\u2028`, "\u2029", `\u2029`, "\u0085", `\u0085`).Replace(msg) + "\n"
			require.Truef(t, want == out.String(), "%q after %d spaces", sign, shift) // they are too long to be printed
		}
	}
}

func TestLinesWriteRefuses(t *testing.T) {
	for _, msg := range []string{"", " ", "\r", "\u00a0", "\n"} {
		var out bytes.Buffer
		s := stream.Lines(nil, &out, nil)
		var refused *stream.MessageError
		require.ErrorAs(t, s.Write([]byte(msg)), &refused)
		require.ErrorAs(t, stream.FeaturesOf(s).WriteBatch([][]byte{[]byte("{}"), []byte(msg)}), &refused)
		assert.Empty(t, out.String(), "nothing of a refused batch is sent")
		assert.NoError(t, s.Write([]byte("{}")), "the stream stays usable")
	}
}

// A connection checks itself whether a line is a message, and reports the lines that are not.
func TestUnchecked(t *testing.T) {
	var noise []string
	s := stream.Lines(strings.NewReader("banner\n{\"broken\n{\"a\":1}\n"), io.Discard, &stream.LinesOptions{
		Tolerant: true, OnNoise: func(line string) { noise = append(noise, line) },
	})
	report := envelope.LeaveChecks(stream.FeaturesOf(s))
	require.NotNil(t, report)

	msg := receive(t, s)
	assert.Equal(t, `{"broken`, msg)
	report([]byte(msg))
	assert.Equal(t, `{"a":1}`, receive(t, s))
	assert.Equal(t, []string{"banner", `{"broken`}, noise)

	assert.Nil(t, envelope.LeaveChecks(stream.FeaturesOf(stream.Lines(strings.NewReader(""), io.Discard, nil))), "not tolerant")
}
