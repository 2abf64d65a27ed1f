package streamhttp_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// Of one connection 1024 short messages wait for room, and no more. Its responses and other
// connections are not affected, and nothing stays of what was refused.
func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, &streamhttp.HandlerOptions{MaxBuffered: 10_000})
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
			resp := w.response(w.say(post(end.ConnectionID(), body, len(body))))
			assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
			assert.Equal(t, "1", resp.Header.Get("Retry-After"))
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

// A message that finds no room for the time of Stall is refused, so that its sender knows
// that it was not accepted.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, &streamhttp.HandlerOptions{MaxBuffered: 10_000})
		end := w.connect()
		assert.Equal(t, 202, <-w.later(end, bigRequest(0)))
		began := time.Now()
		body := request(1, "m", "s")
		resp := w.response(w.say(post(end.ConnectionID(), body, len(body))))
		assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
		assert.Equal(t, "1", resp.Header.Get("Retry-After"))
		assert.Equal(t, 60*time.Second, time.Since(began))
		assert.Equal(t, 1, end.Routes())
	})
}

// Of one sender 2048 short bodies are read at a time, and no more.
func TestManyAreRead(t *testing.T) {
	for name, tt := range map[string]struct{ named, ends bool }{
		"of a connection":      {named: true},
		"initialize":           {},
		"of a connection, cut": {named: true, ends: true},
		"of unknown ones, cut": {ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wired(t, nil)
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
					slow = append(slow, w.say(post(id, "{", len(cancelNote))))
				}
				synctest.Wait()
				assert.Equal(t, http.StatusTooManyRequests, w.response(w.say(post(id, cancelNote, len(cancelNote)))).StatusCode)
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
				assert.Equal(t, want, w.response(w.say(post(id, cancelNote, len(cancelNote)))).StatusCode)
			})
		})
	}
}

// While 2048 short bodies of a connection are read slowly, a response that the agent waits for
// is accepted, and nothing else. Another slow body has 5 s.
func TestResponseAmongManyBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, nil)
		end := w.connect()
		ask(t, end, 7)
		ask(t, end, 8)
		for range 2048 {
			w.say(post(end.ConnectionID(), "{", len(cancelNote)))
		}
		synctest.Wait()
		assert.Equal(t, http.StatusTooManyRequests, <-w.later(end, cancelNote))
		assert.Equal(t, http.StatusTooManyRequests, <-w.later(end, `{"jsonrpc":"2.0","id":9,"result":{}}`), "nothing waits for it")
		assert.Equal(t, 202, <-w.later(end, `{"jsonrpc":"2.0","id":7,"result":{}}`))
		assert.Contains(t, receive(t, end), `"id":7`)

		began := time.Now()
		resp := w.response(w.say(post(end.ConnectionID(), "{", len(cancelNote))))
		assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}
