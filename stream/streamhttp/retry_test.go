package streamhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// busy answers that nothing is accepted now. It names no time if after is empty.
func busy(w http.ResponseWriter, code int, after string) {
	if after == "date" {
		after = time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
	}
	if after != "" {
		w.Header().Set("Retry-After", after)
	}
	http.Error(w, "busy", code)
}

// refuse makes the server refuse each message that fits, which is called with the number of refusals
// before. It returns that number.
func (p *scriptedServer) refuse(code int, after string, fits func(m stream.Message, before int) bool) *int {
	refusals := new(int)
	p.post = func(w http.ResponseWriter, _ *http.Request, m stream.Message) bool {
		if m.Method == "initialize" || !fits(m, *refusals) {
			return false
		}
		*refusals++
		busy(w, code, after)
		return true
	}
	return refusals
}

func everything(stream.Message, int) bool { return true }

const cancelNote = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`

// A notification or a response that the server has not accepted is posted again, after the
// time that the server names.
func TestPostAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		msg   string
		code  int
		after string
		times int
		took  time.Duration
	}{
		"notification, 429":   {cancelNote, 429, "1", 1, time.Second},
		"notification, 503":   {cancelNote, 503, "7", 2, 14 * time.Second},
		"response, 429":       {`{"jsonrpc":"2.0","id":"a","result":{}}`, 429, "1", 3, 3 * time.Second},
		"response, 503":       {`{"jsonrpc":"2.0","id":"a","result":{}}`, 503, "30", 1, 30 * time.Second},
		"no time at all":      {cancelNote, 503, "0", 3, 1750 * time.Millisecond},
		"a date":              {cancelNote, 503, "date", 1, 20 * time.Second},
		"a date that is over": {cancelNote, 503, "Fri, 31 Dec 1999 12:00:00 GMT", 1, 250 * time.Millisecond},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			refusals := p.refuse(tt.code, tt.after, func(m stream.Message, before int) bool {
				return string(m.Data) == tt.msg && before < tt.times
			})
			c := p.dial(t, nil)
			began := time.Now()
			require.NoError(t, c.Write([]byte(tt.msg)))
			assert.Equal(t, tt.msg, string((<-p.posts).Data))
			assert.Equal(t, tt.took, time.Since(began))
			assert.Equal(t, tt.times, *refusals)
			require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"next"}`)))
			assert.Equal(t, "next", (<-p.posts).Method, "it is not repeated once it was accepted")
		}))
	}
}

// A request that was not accepted fails its call with an error that says so, at once. The
// connection goes on.
func TestRequestIsNotAccepted(t *testing.T) {
	for name, tt := range map[string]struct {
		code        int
		after       string
		notAccepted bool
	}{
		"429":                            {429, "1", true},
		"503":                            {503, "3600", true},
		"429 without Retry-After":        {429, "", false},
		"503 with a Retry-After of text": {503, "soon", false},
		"500 with Retry-After":           {500, "1", false},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			ask := request(1, "session/prompt", "s")
			posts := p.refuse(tt.code, tt.after, func(m stream.Message, _ int) bool { return string(m.Data) == ask })
			c := p.dial(t, nil)
			began := time.Now()
			require.NoError(t, c.Write([]byte(ask)))
			l := lost(t, c)
			assert.Equal(t, "1", string(l.ID))
			assert.Equal(t, tt.notAccepted, isNotAccepted(l))
			assert.NotErrorIs(t, l, streamhttp.ErrUncertain)
			assert.Equal(t, tt.code, statusOf(l))
			assert.Zero(t, time.Since(began))
			assert.Equal(t, 1, *posts)
			require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"next"}`)))
			assert.Equal(t, "next", (<-p.posts).Method)
		}))
	}
}

// A server that accepts nothing ends the connection, after 30 s or as soon as it names a
// longer time.
func TestPostAgainHasLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		after       string
		longest     time.Duration
		most        int
		notAccepted bool
	}{
		"for ever":            {"0", 30 * time.Second, 12, true},
		"a long time":         {"31", 0, 1, true},
		"without Retry-After": {"", 0, 1, false},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			posts := p.refuse(503, tt.after, everything)
			c := p.dial(t, nil)
			began := time.Now()
			require.NoError(t, c.Write([]byte(cancelNote)))
			_, err := c.Read()
			assert.Equal(t, tt.notAccepted, isNotAccepted(err))
			assert.Equal(t, 503, statusOf(err))
			assert.LessOrEqual(t, time.Since(began), tt.longest)
			assert.LessOrEqual(t, *posts, tt.most)
			_, err = c.Read()
			assert.NotErrorIs(t, err, io.EOF)
		}))
	}
}

// Close does not wait for a server that accepts nothing.
func TestCloseWhilePostingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		p.refuse(503, "20", everything)
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(cancelNote)))
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`)))
		synctest.Wait()
		began := time.Now()
		require.NoError(t, c.Close())
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

// The request of the barrier is posted again as well: without it the response would overtake
// the replay.
func TestBarrierAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		refused := false
		p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
			if m.Kind == stream.KindRequest && m.Method == "session/load" {
				p.say("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
				w.WriteHeader(202)
				return true
			}
			if m.Kind == stream.KindRequest && m.Method != "initialize" {
				if !refused {
					refused = true
					busy(w, 429, "1")
					return true
				}
				p.say("s", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`)
				p.say("s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
				w.WriteHeader(202)
				return true
			}
			return false
		}
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/load", "s"))))
		assert.Contains(t, receive(t, c), "session/update")
		assert.Contains(t, receive(t, c), `"id":1`)
		assert.True(t, refused)
	})
}

func isNotAccepted(err error) bool { return errors.Is(err, streamhttp.ErrNotAccepted) }

// A message that could not be sent was not accepted either: the call of a request fails with
// an error that says so, and the others are posted when the server can be reached again.
func TestServerCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		transport := p.client.Transport.(*http.Transport)
		dial, down := transport.DialContext, new(atomic.Bool)
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if down.Load() {
				return nil, &net.OpError{Op: "dial", Err: errors.New("no route")}
			}
			return dial(ctx, network, address)
		}
		c := p.dial(t, nil)
		synctest.Wait()
		transport.CloseIdleConnections()
		down.Store(true)
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`)))
		l := lost(t, c)
		assert.Equal(t, "1", string(l.ID))
		assert.ErrorIs(t, l, streamhttp.ErrNotAccepted)
		assert.NotErrorIs(t, l, streamhttp.ErrUncertain)

		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`)))
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"first"}`)))
		time.Sleep(10 * time.Second)
		assert.Empty(t, p.posts)
		down.Store(false)
		got := []stream.Message{<-p.posts, <-p.posts}
		assert.True(t, got[0].IsResponse() != got[1].IsResponse())

		synctest.Wait()
		transport.CloseIdleConnections()
		down.Store(true)
		began := time.Now()
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"second"}`)))
		_, err := c.Read()
		assert.ErrorContains(t, err, "no route")
		assert.LessOrEqual(t, time.Since(began), 30*time.Second)
	})
}

// If the headers of a request cannot be made, nothing of it was sent.
func TestNoHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		fail func(context.Context) error
		want string
		took time.Duration
	}{
		"an error":  {func(context.Context) error { return errors.New("no token") }, "no token", 0},
		"it blocks": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "", postLimit},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			p.keepAlive = 15 * time.Second
			fails := false
			c := p.dial(t, &streamhttp.DialOptions{Header: func(ctx context.Context) (http.Header, error) {
				if fails {
					return nil, tt.fail(ctx)
				}
				return nil, nil
			}})
			synctest.Wait() // the event stream is open
			fails = true
			began := time.Now()
			require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`)))
			l := lost(t, c)
			assert.ErrorContains(t, l, tt.want)
			assert.ErrorIs(t, l, streamhttp.ErrNotAccepted)
			assert.NotErrorIs(t, l, streamhttp.ErrUncertain)
			assert.Equal(t, tt.took, time.Since(began))
		}))
	}
}

// A server that does not end the response to a POST does not hold back the next one.
func TestResponseHasNoEnd(t *testing.T) {
	for _, code := range []int{202, 429, 500} {
		t.Run(fmt.Sprint(code), inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			refused := false
			p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
				if m.Method != "first" && m.Method != "ask" || refused {
					return false
				}
				refused = true
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(code)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return true
			}
			c := p.dial(t, nil)
			began := time.Now()
			first := `{"jsonrpc":"2.0","method":"first"}`
			if code == 500 {
				first = `{"jsonrpc":"2.0","id":1,"method":"ask"}`
			}
			require.NoError(t, c.Write([]byte(first)))
			require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"second"}`)))
			if code == 429 {
				assert.Equal(t, "first", (<-p.posts).Method)
			}
			assert.Equal(t, "second", (<-p.posts).Method)
			assert.Less(t, time.Since(began), 3*time.Second)
		}))
	}
}

// The GET of an event stream that the server refuses is repeated. So is one that is cut while it is
// opened, or that the server believes to be open still, for some seconds: after the first cut the
// client asks for all events.
func TestGetAgain(t *testing.T) {
	refused := func(w http.ResponseWriter) { busy(w, 503, "1") }
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	isOpen := func(w http.ResponseWriter) { http.Error(w, "it is open", http.StatusConflict) }
	for name, tt := range map[string]struct {
		session string
		answers []func(http.ResponseWriter)
		last    string // the last event that the client has
	}{
		"of the connection, refused": {"", []func(http.ResponseWriter){refused, refused}, ""},
		"of a session, refused":      {"s", []func(http.ResponseWriter){refused, refused}, ""},
		"of the connection, cut":     {"", []func(http.ResponseWriter){cut, isOpen, isOpen}, "0"},
		"of a session, cut":          {"s", []func(http.ResponseWriter){cut, isOpen, isOpen}, "0"},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			var asked []string
			p.get = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Acp-Session-Id") != tt.session {
					return false
				}
				n := len(asked)
				if asked = append(asked, r.Header.Get("Last-Event-ID")); n < len(tt.answers) {
					tt.answers[n](w)
					return true
				}
				return false
			}
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
			assert.Equal(t, "session/prompt", (<-p.posts).Method)
			assert.Equal(t, "", asked[0])
			assert.Len(t, asked, len(tt.answers)+1)
			assert.Equal(t, tt.last, asked[len(asked)-1], "net/http may repeat the first one itself")
		}))
	}
}

// With Resume nothing is lost that the server had sent before the client could read it.
func TestOpeningIsCutAfterEvents(t *testing.T) {
	h, conns := handler(&streamhttp.HandlerOptions{Resume: true})
	cut := new(atomic.Bool)
	s := &server{conns: conns, Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Acp-Session-Id") == "s" && cut.CompareAndSwap(false, true) {
			ctx, cancel := context.WithTimeout(r.Context(), 100*time.Millisecond) // the events are sent by then
			defer cancel()
			h.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))}
	t.Cleanup(s.Close)
	client, end := s.connect(t, nil)
	update := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`
	require.NoError(t, end.Write([]byte(update)))
	require.NoError(t, client.Write([]byte(request(1, "session/prompt", "s"))))
	assert.Equal(t, update, receive(t, client))
	assert.True(t, cut.Load())
}
