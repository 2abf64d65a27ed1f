package streamhttp_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// smallBuffers returns options in which the bodies of one sender have 100 kB.
func smallBuffers() *streamhttp.HandlerOptions {
	return streamhttp.HandlerOptions{MaxMessage: 100_000}.Buffering(100_000)
}

var padding = strings.Repeat("x", 60_000)

func bigRequest(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"x":"%s"}}`, id, padding)
}

func bigResponse(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"x":"%s"}}`, id, padding)
}

// chunked is a POST whose length is not known.
func chunked(id, body string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAcp-Connection-Id: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", id, len(body), body)
}

// sendInBackground sends what the server may not read to its end.
func (w *rawServer) sendInBackground(text string) net.Conn {
	w.t.Helper()
	c := w.send("")
	go func() { _, _ = io.WriteString(c, text) }() // ends when it is read, or the connection ends
	return c
}

// refused asserts that a POST is refused because of other bodies.
func (w *rawServer) refused(end *serverEnd, body string) {
	w.t.Helper()
	resp := w.response(w.sendInBackground(post(end.ConnectionID(), body, len(body))))
	assert.Equal(w.t, http.StatusTooManyRequests, resp.StatusCode)
	assert.Equal(w.t, "1", resp.Header.Get("Retry-After"))
}

// ask sends a request of the agent.
func ask(t *testing.T, end *serverEnd, id int) {
	t.Helper()
	require.NoError(t, end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ask"}`, id)))
}

// Bodies that are being read have a budget. Beyond it requests are refused; responses,
// cancels and other connections are not.
func TestBodiesThatAreRead(t *testing.T) {
	first := bigRequest(1)
	for name, tc := range map[string]struct {
		begin func(id string) string
		rest  string
	}{
		"length known":   {func(id string) string { return post(id, first[:50_000], len(first)) }, first[50_000:]},
		"length unknown": {func(id string) string { return chunked(id, first[:50_000]) }, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(first)-50_000, first[50_000:])},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			w := serveRaw(t, smallBuffers())
			end, other := w.connect(), w.connect()
			slow := w.send(tc.begin(end.ConnectionID()))
			synctest.Wait()
			w.refused(end, bigRequest(2))
			resp := w.response(w.sendInBackground(chunked(end.ConnectionID(), bigRequest(2)) + "0\r\n\r\n"))
			assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode, "of unknown length, which is counted as it is read")
			assert.Equal(t, 0, end.Routes())

			ask(t, end, 7)
			assert.Equal(t, 202, <-w.later(end, bigResponse(7)))
			assert.Equal(t, bigResponse(7), receive(t, end))
			cancel := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9}}`
			assert.Equal(t, 202, <-w.later(end, cancel))
			assert.Equal(t, cancel, receive(t, end))
			assert.Equal(t, 202, <-w.later(other, bigRequest(1)))

			_, err := io.WriteString(slow, tc.rest)
			require.NoError(t, err)
			assert.Equal(t, 202, w.response(slow).StatusCode)
			assert.Equal(t, first, receive(t, end))
			assert.Equal(t, 202, <-w.later(end, bigRequest(2)), "there is room again")
		}))
	}
}

// A body counts until its message has room in the queue, or its sender has left. A request that waits
// for room does not delay responses.
func TestBodiesThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, smallBuffers())
		end := w.connect()
		assert.Equal(t, 202, <-w.later(end, bigRequest(1)))
		body := bigRequest(2)
		c := w.send(post(end.ConnectionID(), body, len(body)))
		synctest.Wait()
		w.refused(end, bigRequest(3))

		ask(t, end, 7)
		stray := `{"jsonrpc":"2.0","id":8,"result":{"x":"` + padding + `"}}`
		w.refused(end, stray)
		liar := `{"jsonrpc":"2.0","id":9,"result":1,"method":"m","params":{"x":"` + padding + `"}}`
		w.refused(end, liar)
		response := `{"jsonrpc":"2.0","id":7,"result":{}}`
		answered := w.later(end, response)
		synctest.Wait()
		require.Len(t, answered, 1, "it does not wait")
		assert.Equal(t, 202, <-answered)

		require.NoError(t, c.Close())
		synctest.Wait()
		third := w.later(end, bigRequest(3))
		synctest.Wait()
		assert.Empty(t, third, "it waits")
		assert.Equal(t, bigRequest(1), receive(t, end))
		assert.Equal(t, response, receive(t, end))
		assert.Equal(t, 202, <-third)
	})
}

// Responses have a budget of their own.
func TestResponsesThatAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 32 << 20
		w := serveRaw(t, nil)
		end := w.connect()
		ask(t, end, 7)
		for range 2 {
			w.send(post(end.ConnectionID(), bigResponse(7), length))
		}
		synctest.Wait()
		w.refused(end, bigResponse(7))
		assert.Equal(t, 202, <-w.later(end, bigRequest(1)))
	})
}

// Requests that name no connection have a budget for each owner.
func TestBodiesWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := smallBuffers()
		opts.Owner = func(r *http.Request) string { return r.Header.Get("Accept") } // as good as any
		w := serveRaw(t, opts)
		from := func(owner, body string, length int) string {
			return strings.Replace(post("", body, length), "Host: h", "Host: h\r\nAccept: "+owner, 1)
		}
		big := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":"` + padding + `"}}`
		w.send(from("a", big[:50_000], len(big)))
		synctest.Wait()
		assert.Equal(t, 429, w.response(w.sendInBackground(from("a", big, len(big)))).StatusCode)
		for _, quick := range []string{from("b", big, len(big)), from("a", initialize, len(initialize))} {
			c := w.send(quick)
			end := <-w.conns
			t.Cleanup(func() { end.Close() })
			receive(t, end)
			require.NoError(t, end.Write([]byte(initialized)))
			assert.Equal(t, 200, w.response(c).StatusCode)
		}
	})
}

// At most 1024 short messages of one connection wait for room. Its responses and other connections
// are not affected, and nothing remains of the refused messages.
func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(10_000))
		end, other := w.connect(), w.connect()
		full := bigRequest(0)
		assert.Equal(t, 202, <-w.later(end, full))
		var waiting []<-chan int
		for i := range 1024 {
			waiting = append(waiting, w.later(end, request(1+i, "m", "s")))
		}
		synctest.Wait()
		assert.Empty(t, waiting[0])

		ask(t, end, 7)
		for _, body := range []string{request(2000, "m", "s"), cancelNote} {
			w.refused(end, body)
		}
		assert.Equal(t, 202, <-w.later(end, `{"jsonrpc":"2.0","id":7,"result":{}}`))
		assert.Equal(t, 202, <-w.later(other, cancelNote))
		assert.Equal(t, 1025, end.Routes())

		assert.Equal(t, full, receive(t, end))
		assert.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, receive(t, end))
		for range waiting {
			receive(t, end)
		}
		for _, status := range waiting {
			assert.Equal(t, 202, <-status)
		}
		assert.Equal(t, 202, <-w.later(end, cancelNote))
	})
}

// A message that finds no room for 60 s is refused, so that its sender knows that it was not
// accepted.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(10_000))
		end := w.connect()
		assert.Equal(t, 202, <-w.later(end, bigRequest(0)))
		began := time.Now()
		w.refused(end, request(1, "m", "s"))
		assert.Equal(t, 60*time.Second, time.Since(began))
		assert.Equal(t, 1, end.Routes())
	})
}

// At most 2048 short bodies of one sender are read at a time.
func TestManyAreRead(t *testing.T) {
	for name, tt := range map[string]struct{ named, ends bool }{
		"of a connection":      {named: true},
		"initialize":           {},
		"of a connection, cut": {named: true, ends: true},
		"of unknown ones, cut": {ends: true},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			w := serveRaw(t, nil)
			end, other := w.connect(), w.connect()
			id := ""
			switch {
			case tt.named:
				id = end.ConnectionID()
			case tt.ends:
				id = "unknown"
			}
			var slow []interface{ Close() error }
			for range 2048 {
				slow = append(slow, w.send(post(id, "{", len(cancelNote))))
			}
			synctest.Wait()
			assert.Equal(t, http.StatusTooManyRequests, w.response(w.send(post(id, cancelNote, len(cancelNote)))).StatusCode)
			assert.Equal(t, 202, <-w.later(other, cancelNote), "another connection")
			if tt.ends {
				for _, c := range slow {
					require.NoError(t, c.Close())
				}
				synctest.Wait()
			} else {
				time.Sleep(61 * time.Second) // a body may take 60 s
			}
			want := map[string]int{"": 400, "unknown": 404}[id]
			if tt.named {
				want = 202
			}
			assert.Equal(t, want, w.response(w.send(post(id, cancelNote, len(cancelNote)))).StatusCode)
		}))
	}
}

// While 2048 short bodies of a connection are read slowly, a response that the agent waits for
// is accepted, and nothing else. Another slow body has 5 s.
func TestResponseAmongManyBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		ask(t, end, 7)
		ask(t, end, 8)
		for range 2048 {
			w.send(post(end.ConnectionID(), "{", len(cancelNote)))
		}
		synctest.Wait()
		assert.Equal(t, http.StatusTooManyRequests, <-w.later(end, cancelNote))
		assert.Equal(t, http.StatusTooManyRequests, <-w.later(end, `{"jsonrpc":"2.0","id":9,"result":{}}`), "nothing waits for it")
		assert.Equal(t, 202, <-w.later(end, `{"jsonrpc":"2.0","id":7,"result":{}}`))
		assert.Contains(t, receive(t, end), `"id":7`)

		began := time.Now()
		resp := w.response(w.send(post(end.ConnectionID(), "{", len(cancelNote))))
		assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// The memory for requests that a client never answers is bounded. The newest requests are
// remembered.
func TestClientNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		for n := range 20_000 {
			ask(t, end, n)
		}
		assert.LessOrEqual(t, end.Asked(), 8192)
		assert.Equal(t, 202, <-w.later(end, `{"jsonrpc":"2.0","id":19999,"result":{}}`))
	})
}

// Refusals are logged at a limited rate.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := serveRaw(t, streamhttp.HandlerOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}.Buffering(10_000))
		end := w.connect()
		assert.Equal(t, 202, <-w.later(end, bigRequest(0)))
		var waiting []<-chan int
		for n := range 50 {
			waiting = append(waiting, w.later(end, request(1+n, "m", "s")))
		}
		for _, status := range waiting {
			assert.Equal(t, 429, <-status)
		}
		assert.Equal(t, 20, strings.Count(log.String(), "status=429"))
		time.Sleep(time.Minute)
		assert.Equal(t, 429, <-w.later(end, request(99, "m", "s")))
		assert.Contains(t, log.String(), fmt.Sprint("not_logged_before=", 30))
	})
}
