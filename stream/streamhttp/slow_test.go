package streamhttp_test

import (
	"bufio"
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

// wires is a server in memory that is spoken to byte by byte.
type wires struct {
	t        *testing.T
	listener *pipenet.Listener
	conns    chan *serverEnd
}

func wired(t *testing.T, opts *streamhttp.HandlerOptions) *wires {
	h, conns := handler(opts)
	w := &wires{t: t, listener: pipenet.Listen(), conns: conns}
	hs := &http.Server{Handler: h}
	go hs.Serve(w.listener) // ends with the test
	t.Cleanup(func() { hs.Close() })
	return w
}

// say opens a network connection and sends bytes.
func (w *wires) say(text string) net.Conn {
	w.t.Helper()
	c, err := w.listener.DialContext(w.t.Context(), "", "")
	require.NoError(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	_, err = io.WriteString(c, text)
	require.NoError(w.t, err)
	return c
}

func (w *wires) response(c net.Conn) *http.Response {
	w.t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(w.t, err)
	return resp
}

// connect initializes a connection and returns its server's end.
func (w *wires) connect() *serverEnd {
	w.t.Helper()
	c := w.say(post("", initialize, len(initialize)))
	end := <-w.conns
	w.t.Cleanup(func() { end.Close() })
	assert.Equal(w.t, initialize, receive(w.t, end))
	require.NoError(w.t, end.Write([]byte(initialized)))
	assert.Equal(w.t, 200, w.response(c).StatusCode)
	return end
}

func post(id, body string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAcp-Connection-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, length, body)
}

// A body may take 60 s, however it drips.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, nil)
		end := w.connect()
		msg := `{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("x", 100) + `"}}`
		c := w.say(post(end.ConnectionID(), msg[:10], len(msg)))
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

		quick := w.say(post(end.ConnectionID(), msg[:10], len(msg)))
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wired(t, &streamhttp.HandlerOptions{Resume: resume})
				end := w.connect()
				get := "GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAcp-Session-Id: s\r\nAcp-Connection-Id: " + end.ConnectionID() + "\r\n\r\n"
				dead := w.say(get)
				head := make([]byte, 12)
				_, err := io.ReadFull(dead, head)
				require.NoError(t, err)
				assert.Equal(t, "HTTP/1.1 200", string(head)) // and it reads no more
				msg := `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"` + strings.Repeat("x", 10_000) + `"}}`
				require.NoError(t, end.Write([]byte(msg)))
				time.Sleep(29 * time.Second)
				assert.Equal(t, 409, w.response(w.say(get)).StatusCode)
				time.Sleep(2 * time.Second)
				resp := w.response(w.say(get))
				require.Equal(t, 200, resp.StatusCode)
				events := &rawEvents{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
				assert.Equal(t, msg, events.next())
			})
		})
	}
}

// A client whose reader pauses for minutes keeps its event stream. One that takes nothing for
// longer than a connection may be idle loses it.
func TestReceiverPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, nil)
		end := w.connect()
		get := "GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAcp-Session-Id: s\r\nAcp-Connection-Id: " + end.ConnectionID() + "\r\n\r\n"
		resp := w.response(w.say(get))
		require.Equal(t, 200, resp.StatusCode)
		msg := `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"` + strings.Repeat("x", 500_000) + `"}}`
		require.NoError(t, end.Write([]byte(msg)))
		time.Sleep(4 * time.Minute)
		events := &rawEvents{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
		assert.Equal(t, msg, events.next())

		require.NoError(t, end.Write([]byte(msg)))
		time.Sleep(5*time.Minute + time.Second)
		_, err := io.ReadAll(resp.Body)
		require.Error(t, err)
		next := w.response(w.say(get))
		require.Equal(t, 200, next.StatusCode)
		events = &rawEvents{t: t, resp: next, r: bufio.NewReader(next.Body)}
		assert.Equal(t, msg, events.next(), "nothing is lost")
	})
}
