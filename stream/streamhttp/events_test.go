package streamhttp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubble(t, nil)
		client, end := s.connect(t, nil)
		open(t, client, end)
		time.Sleep(time.Hour) // comments keep the connection alive
		go end.Write([]byte(sessionMade))
		assert.Equal(t, sessionMade, receive(t, client))
	})
}

// Line ends in a message do not break the event.
func TestLineEnds(t *testing.T) {
	s := serve(t, nil)
	client, end := s.connect(t, nil)
	msg := []byte("{\"jsonrpc\":\"2.0\",\n\"method\":\"x\",\r\n\"params\":{\r}}")
	require.NoError(t, end.Write(msg))
	got := receive(t, client)
	assert.Equal(t, bytes.Fields(msg), bytes.Fields([]byte(got)))
}

// An event stream begins with a comment: a proxy that waits for the first byte of a
// response passes on its header at once.
func TestFirstComment(t *testing.T) {
	for name, opts := range map[string]*streamhttp.HandlerOptions{":\n": nil, "id: ": {Resume: true}} {
		s := serve(t, opts)
		c, _ := s.connectRaw(t)
		first, err := c.events().r.ReadString('\n')
		require.NoError(t, err)
		assert.Contains(t, first, name)
	}
}

// Waiting events are sent in one write.
func TestEventsLeaveTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		for n := range 100 {
			require.NoError(t, end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","n":%d}}`, n)))
		}
		c := w.send(getText(end, "s"))
		chunks := &writes{r: c}
		events := &rawEvents{t: t, r: bufio.NewReaderSize(chunks, 1<<20)}
		for n := range 100 {
			assert.Contains(t, events.next(), fmt.Sprintf(`"n":%d}`, n))
		}
		assert.LessOrEqual(t, chunks.count, 6, "the header, the comment, and all events together")
	})
}

// writes counts reads from a pipe without a buffer: one for each write, if the reader has room.
type writes struct {
	r     io.Reader
	count int
}

func (w *writes) Read(b []byte) (int, error) {
	w.count++
	return w.r.Read(b)
}

// The last line of each event stream of a server that shuts down is a comment that says so. Other
// clients ignore it. The event stream of an agent that ends by itself has none.
func TestLastLineOfADrain(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(e *serverEnd)
		want string
	}{
		"drained": {func(e *serverEnd) { e.Drain(); e.Close() }, ": the server shuts down\n\n"},
		"done":    {func(e *serverEnd) { e.Close() }, ""},
	} {
		for _, resume := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resume %t", name, resume), func(t *testing.T) {
				s := serve(t, &streamhttp.HandlerOptions{Resume: resume})
				c, end := s.connectRaw(t)
				all := []*rawEvents{c.events(), c.events("Acp-Session-Id", session)}
				const last = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `"}}`
				require.NoError(t, end.Write([]byte(`{"jsonrpc":"2.0","method":"_x"}`)))
				require.NoError(t, end.Write([]byte(last)))
				tt.end(end)
				assert.Equal(t, `{"jsonrpc":"2.0","method":"_x"}`, all[0].next())
				assert.Equal(t, last, all[1].next())
				for _, e := range all {
					assert.Equal(t, tt.want, e.rest())
				}
			})
		}
	}
}

// Only the last line of an event stream is the reason for its end. A comment in the middle means
// nothing, and a message cannot give a reason.
func TestReasonOfTheEnd(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"_x","params":": the server shuts down"}`
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"the last line":   {"data: " + note + "\n\n: the server shuts down\n\n", stream.ErrShutdown},
		"then a message":  {": the server shuts down\n\ndata: " + note + "\n\n", io.EOF},
		"then a comment":  {"data: " + note + "\n\n: the server shuts down\n\n:\n\n", io.EOF},
		"in a message":    {"data: " + note + "\n\n", io.EOF},
		"a longer line":   {"data: " + note + "\n\n: the server shuts down soon\n\n", io.EOF},
		"lines with CRLF": {"data: " + note + "\r\n\r\n: the server shuts down\r\n\r\n", stream.ErrShutdown},
	} {
		t.Run(name, func(t *testing.T) {
			p := newScripted(t)
			c := p.dial(t, nil)
			p.on("") <- tt.text
			p.on("") <- "end"
			assert.Equal(t, note, receive(t, c))
			_, err := c.Read()
			assert.Equal(t, tt.want, err)
		})
	}
}

// plainEvents reads events as the standard says, from the whole text at once. Only an event
// that the end cuts counts as well, if none has an id.
func plainEvents(text string) (all []string) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.TrimSuffix(text, "\n") // it ends a line and begins none
	var data []string
	numbered := false
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "" && data != nil:
			all, data = append(all, strings.Join(data, "\n")), nil
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		case strings.HasPrefix(line, "id:"):
			numbered = strings.TrimPrefix(value, " ") != ""
		}
	}
	if data != nil && !numbered {
		all = append(all, strings.Join(data, "\n"))
	}
	return all
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "data: a\r\ndata: b\r\n\r\n", "data:a\r\rdata\r\r", "\ufeffdata: x\n\n", ":\n\nid: 1\nevent: e\ndata: x\n\n", "data: a", "datax: a\n\n",
		"\n\n\n", "data:\n\ndata: \n\n", "id: " + strings.Repeat("x", 2000) + "\ndata: y\n\n", "data: " + strings.Repeat("y", 9000) + "\n\n", "\xef\xbb", "\xef\xbbdata: x\n\n", "d", "retry: 3\nfoo\ndatum: x\nid\nevent: e\n: comment\ndata: x\n\n", "data: x\r", "id: 1\ndata: a\n\ndata: b", "id: 1\ndata: a\nid:\ndata: b\n",
		"id: 1\ndata: a\nid:", "data: a\nid: 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := plainEvents(string(text))
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(text), "byte by byte": iotest.OneByteReader(bytes.NewReader(text))} {
			all, _, err := streamhttp.ReadEvents(r, 1<<20)
			require.ErrorIs(t, err, io.EOF, name)
			require.Len(t, all, len(want), name)
			for i := range want {
				require.Equal(t, want[i], string(all[i]), name)
			}
		}
		_, _, err := streamhttp.ReadEvents(bytes.NewReader(text), 3)
		var long *stream.TooLargeError
		require.True(t, errors.Is(err, io.EOF) || errors.As(err, &long))
	})
}
