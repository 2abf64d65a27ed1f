package streamhttp_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// rawServer is a server in memory that is spoken to byte by byte.
type rawServer struct {
	t        *testing.T
	listener *pipenet.Listener
	conns    chan *serverEnd
}

func serveRaw(t *testing.T, opts *streamhttp.HandlerOptions) *rawServer {
	h, conns := handler(opts)
	w := &rawServer{t: t, listener: pipenet.Listen(), conns: conns}
	hs := &http.Server{Handler: h}
	go hs.Serve(w.listener) // ends with the test
	t.Cleanup(func() { hs.Close() })
	return w
}

// send opens a network connection and sends bytes.
func (w *rawServer) send(text string) net.Conn {
	w.t.Helper()
	c, err := w.listener.DialContext(w.t.Context(), "", "")
	require.NoError(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	_, err = io.WriteString(c, text)
	require.NoError(w.t, err)
	return c
}

func (w *rawServer) response(c net.Conn) *http.Response {
	w.t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(w.t, err)
	return resp
}

// connect initializes a connection and returns its server's end.
func (w *rawServer) connect() *serverEnd {
	w.t.Helper()
	c := w.send(post("", initialize, len(initialize)))
	end := <-w.conns
	w.t.Cleanup(func() { end.Close() })
	assert.Equal(w.t, initialize, receive(w.t, end))
	require.NoError(w.t, end.Write([]byte(initialized)))
	assert.Equal(w.t, 200, w.response(c).StatusCode)
	return end
}

// getText is the GET of an event stream, as text.
func getText(end *serverEnd, session string) string {
	return fmt.Sprintf("GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAcp-Connection-Id: %s\r\nAcp-Session-Id: %s\r\n\r\n", end.ConnectionID(), session)
}

// events opens the event stream of session s.
func (w *rawServer) events(end *serverEnd) *rawEvents {
	w.t.Helper()
	return eventsOf(w.t, w.response(w.send(getText(end, "s"))))
}

func eventsOf(t testing.TB, resp *http.Response) *rawEvents {
	t.Helper()
	require.Equal(t, 200, resp.StatusCode)
	return &rawEvents{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
}

// post is a POST, as text. The length may be that of a longer body.
func post(id, body string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAcp-Connection-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, length, body)
}

// A body may take 60 s in all, however slowly it arrives.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		msg := `{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("x", 100) + `"}}`
		c := w.send(post(end.ConnectionID(), msg[:10], len(msg)))
		began := time.Now()
		go func() { // ends when the server closes the connection
			for i := 10; i < len(msg); i++ {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, msg[i:i+1]); err != nil {
					return
				}
			}
		}()
		assert.Equal(t, 400, w.response(c).StatusCode)
		assert.Equal(t, time.Minute, time.Since(began))

		quick := w.send(post(end.ConnectionID(), msg[:10], len(msg)))
		go func() { // ends when the body is sent
			time.Sleep(59 * time.Second)
			_, _ = io.WriteString(quick, msg[10:])
		}()
		assert.Equal(t, 202, w.response(quick).StatusCode, "one that is quick enough is accepted")
		assert.Equal(t, msg, receive(t, end))
	})
}

// A receiver that reads nothing for 30 s is dead: another one may take its place, which
// gets what the dead one did not read. Before that it gets 409.
func TestDeadReceiver(t *testing.T) {
	for name, resume := range map[string]bool{"with resume": true, "without": false} {
		t.Run(name, inBubble(func(t *testing.T) {
			w := serveRaw(t, &streamhttp.HandlerOptions{Resume: resume})
			end := w.connect()
			dead := w.send(getText(end, "s"))
			head := make([]byte, 12)
			_, err := io.ReadFull(dead, head)
			require.NoError(t, err)
			assert.Equal(t, "HTTP/1.1 200", string(head)) // and it reads no more
			msg := `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"` + strings.Repeat("x", 10_000) + `"}}`
			require.NoError(t, end.Write([]byte(msg)))
			time.Sleep(29 * time.Second)
			assert.Equal(t, 409, w.response(w.send(getText(end, "s"))).StatusCode)
			time.Sleep(2 * time.Second)
			assert.Equal(t, msg, w.events(end).next())
		}))
	}
}

// A client whose reader pauses for minutes keeps its event stream. One that takes nothing for
// longer than a connection may be idle loses it.
func TestReceiverPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		events := w.events(end)
		msg := `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"` + strings.Repeat("x", 500_000) + `"}}`
		require.NoError(t, end.Write([]byte(msg)))
		time.Sleep(4 * time.Minute)
		assert.Equal(t, msg, events.next())

		require.NoError(t, end.Write([]byte(msg)))
		time.Sleep(5*time.Minute + time.Second)
		_, err := io.ReadAll(events.resp.Body)
		require.Error(t, err)
		assert.Equal(t, msg, w.events(end).next(), "nothing is lost")
	})
}

// The body of a GET is ignored. A body that does not arrive does not occupy the event stream, and
// one that arrives does no harm.
func TestGetWithBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		get := strings.TrimSuffix(getText(end, "s"), "\r\n")
		began := time.Now()
		promised := w.send(get + "Content-Length: 10\r\n\r\n")
		synctest.Wait()

		resp := w.response(w.send(get + "Content-Length: 10\r\n\r\n0123456789"))
		events := eventsOf(t, resp)
		assert.Equal(t, 400, w.response(promised).StatusCode)
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Equal(t, 400, w.response(w.sendInBackground(get+"Content-Length: 60000\r\n\r\n"+padding)).StatusCode)

		time.Sleep(11 * time.Second) // the deadline for the body is over
		require.NoError(t, end.Write([]byte(cancelNote)))
		assert.Equal(t, cancelNote, events.next())
	})
}

// A client that reads a long event slowly does not count as one that reads nothing: the connection
// stays open, and its writers see progress.
func TestSlowReaderOfALongEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(100_000))
		end := w.connect()
		slow := w.send(getText(end, ""))
		over := make(chan struct{})
		go func() { // ends with the network connection
			defer close(over)
			for {
				if _, err := io.ReadFull(slow, make([]byte, 4<<10)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		long := []byte(`{"jsonrpc":"2.0","method":"u","params":{"x":"` + strings.Repeat("x", 500_000) + `"}}`)
		began := time.Now()
		require.NoError(t, end.Write(long))
		last := int64(0)
		for range 3 {
			time.Sleep(20 * time.Second)
			assert.Greater(t, end.Features().Written(), last)
			last = end.Features().Written()
		}
		require.NoError(t, end.Write(long), "it waits for room")
		assert.Greater(t, time.Since(began), 100*time.Second)
		require.NoError(t, slow.Close())
		<-over // a bubble must not end while a goroutine sleeps
	})
}

// A comment that keeps an event stream open does not count as progress: the client of a full queue
// may still read nothing.
func TestCommentsAreNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(100_000))
		end := w.connect()
		lives := w.send(getText(end, ""))
		go io.Copy(io.Discard, lives) // ends with the network connection
		long := []byte(`{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"` + strings.Repeat("x", 90_000) + `"}}`)
		require.NoError(t, end.Write(long)) // the client does not read it
		began := time.Now()
		written := end.Features().Written()
		require.Error(t, end.Write(long))
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, written, end.Features().Written())
	})
}

// While a long POST is in flight, Written reports how much of it has been sent.
func TestWrittenDuringPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{})
		client := pipenet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "POST" || r.ContentLength < 1000 {
				(&scriptedServer{streams: map[string]chan string{}}).ServeHTTP(w, r)
				return
			}
			_, _ = io.ReadFull(r.Body, make([]byte, 500_000))
			<-read
			n, _ := io.Copy(io.Discard, r.Body)
			assert.EqualValues(t, 500_000, n)
			w.WriteHeader(202)
		}), nil)
		c := (&scriptedServer{client: client}).dial(t, nil)
		before := c.Features().Written()
		require.NoError(t, c.Write(bytes.Join([][]byte{[]byte(`{"jsonrpc":"2.0","method":"m","params":"`), []byte(`"}`)}, bytes.Repeat([]byte("x"), 1_000_000-42))))
		synctest.Wait()
		half := c.Features().Written() - before
		assert.GreaterOrEqual(t, half, int64(500_000))
		assert.Less(t, half, int64(1_000_000))
		close(read)
		synctest.Wait()
		assert.EqualValues(t, 1_000_000, c.Features().Written()-before)
	})
}
