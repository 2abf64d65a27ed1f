package streamhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// overBoth runs a test in bubbles, over HTTP/1.1 and over HTTP/2.
func overBoth(t *testing.T, test func(t *testing.T, p *scriptedServer)) {
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": nil, "HTTP/2": http2()} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubbleOver(t, protocols)
			p.keepAlive = 15 * time.Second
			test(t, p)
		}))
	}
}

const (
	getLimit  = 25 * time.Second
	postLimit = 64 * time.Second
)

// neverAnswer keeps a request open for ever.
func neverAnswer(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return true
}

// A connection whose server does not answer initialize, the GET of its event stream, or a
// notification or response, which may or may not have arrived, ends with an error.
func TestConnectionIsNotAnswered(t *testing.T) {
	afterwards := func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
		return m.Method != "initialize" && neverAnswer(w, r)
	}
	for name, tt := range map[string]struct {
		post  func(http.ResponseWriter, *http.Request, stream.Message) bool
		get   func(http.ResponseWriter, *http.Request) bool
		msg   string // after initialize
		limit time.Duration
	}{
		"initialize": {
			post:  func(w http.ResponseWriter, r *http.Request, _ stream.Message) bool { return neverAnswer(w, r) },
			limit: postLimit,
		},
		"the rest of the response to initialize": {
			post: func(w http.ResponseWriter, r *http.Request, _ stream.Message) bool {
				w.Header().Set("Acp-Connection-Id", "c1")
				io.WriteString(w, initialized[:10])
				w.(http.Flusher).Flush()
				return neverAnswer(w, r)
			},
			limit: postLimit,
		},
		"the GET of the event stream": {get: neverAnswer, limit: getLimit},
		"a notification":              {post: afterwards, msg: cancelNote, limit: postLimit},
		"a response":                  {post: afterwards, msg: `{"jsonrpc":"2.0","id":"a","result":{}}`, limit: postLimit},
	} {
		t.Run(name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, p *scriptedServer) {
				p.post, p.get = tt.post, tt.get
				c := p.raw(t, nil)
				began := time.Now()
				require.NoError(t, c.Write([]byte(initialize)))
				if tt.msg != "" {
					receive(t, c)
					require.NoError(t, c.Write([]byte(tt.msg)))
				}
				_, err := c.Read()
				assert.ErrorContains(t, err, "does not answer")
				assert.NotErrorIs(t, err, io.EOF)
				assert.Equal(t, tt.limit, time.Since(began))
			})
		})
	}
}

// A POST that the server does not answer fails its call. The requests behind it were not
// sent and fail at the same time; the connection goes on.
func TestPostIsNotAnswered(t *testing.T) {
	overBoth(t, func(t *testing.T, p *scriptedServer) {
		p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
			return m.Method == "swallowed" && neverAnswer(w, r)
		}
		c := p.dial(t, nil)
		began := time.Now()
		for _, msg := range []string{request(1, "swallowed", "s"), request(2, "behind", "s"), cancelNote, request(3, "behind", "other")} {
			require.NoError(t, c.Write([]byte(msg)))
		}
		l := lost(t, c)
		assert.Equal(t, "1", string(l.ID))
		assert.ErrorIs(t, l, streamhttp.ErrUncertain)
		assert.ErrorContains(t, l, "does not answer")
		assert.Equal(t, postLimit, time.Since(began))
		for _, id := range []string{"2", "3"} {
			l = lost(t, c)
			assert.Equal(t, id, string(l.ID))
			assert.ErrorIs(t, l, streamhttp.ErrNotAccepted)
			assert.NotErrorIs(t, l, streamhttp.ErrUncertain)
			assert.Equal(t, postLimit, time.Since(began))
		}
		assert.Equal(t, "session/cancel", (<-p.posts).Method, "a notification keeps its place")
		require.NoError(t, c.Write([]byte(request(4, "next", "s"))))
		assert.Equal(t, "next", (<-p.posts).Method)
	})
}

// The event stream of a session that the server does not open fails that session.
func TestSessionIsNotAnswered(t *testing.T) {
	overBoth(t, func(t *testing.T, p *scriptedServer) {
		p.get = func(w http.ResponseWriter, r *http.Request) bool {
			return r.Header.Get("Acp-Session-Id") == "s" && neverAnswer(w, r)
		}
		c := p.dial(t, nil)
		began := time.Now()
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		require.NoError(t, c.Write([]byte(request(2, "session/prompt", "other"))))
		for range 2 {
			l := lost(t, c)
			assert.True(t, l.SessionID == "s" || string(l.ID) == "1")
			assert.ErrorContains(t, l, "does not answer")
		}
		assert.Equal(t, getLimit, time.Since(began))
		assert.Equal(t, "other", (<-p.posts).SessionID)
	})
}

// A body that is sent slowly does not count as silence.
func TestSlowUpload(t *testing.T) {
	overBoth(t, func(t *testing.T, p *scriptedServer) {
		long := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`
		p.client.Transport = slowly{p.client.Transport}
		c := p.dial(t, nil)
		began := time.Now()
		require.NoError(t, c.Write([]byte(long)))
		assert.Equal(t, long, string((<-p.posts).Data))
		assert.Greater(t, time.Since(began), 2*postLimit)
		time.Sleep(2 * time.Second) // net/http reads the end of the body

	})
}

// slowly is a network that takes 4 KiB of a body in a second.
type slowly struct{ http.RoundTripper }

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.ContentLength > 0 {
		r.Body = slowBody{r.Body}
	}
	return s.RoundTripper.RoundTrip(r)
}

func (s slowly) CloseIdleConnections() { s.RoundTripper.(*http.Transport).CloseIdleConnections() }

type slowBody struct{ io.ReadCloser }

func (b slowBody) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return b.ReadCloser.Read(p[:min(len(p), 4<<10)])
}

// A server that answers the GETs of an event stream that was cut, but sends only the beginning, ends
// the connection: the time limit does not begin again with each response.
func TestContinuedInVain(t *testing.T) {
	for name, cut := range map[string]bool{"silence": false, "cuts": true} {
		t.Run(name, func(t *testing.T) {
			overBoth(t, func(t *testing.T, p *scriptedServer) {
				gets := 0
				p.get = func(w http.ResponseWriter, r *http.Request) bool {
					gets++
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, "id: e-0\n\n")
					w.(http.Flusher).Flush()
					if cut {
						panic(http.ErrAbortHandler)
					}
					return neverAnswer(w, r)
				}
				c := p.dial(t, nil)
				began := time.Now()
				_, err := c.Read()
				require.Error(t, err)
				assert.False(t, errors.Is(err, io.EOF))
				assert.LessOrEqual(t, time.Since(began), 90*time.Second)
				assert.Greater(t, gets, 1, "it was tried")
				assert.Less(t, gets, 40)
			})
		})
	}
}

// An event stream that was continued lasts as long as something arrives, be it comments.
func TestContinued(t *testing.T) {
	overBoth(t, func(t *testing.T, p *scriptedServer) {
		gets := 0
		p.get = func(w http.ResponseWriter, r *http.Request) bool {
			if gets++; gets > 1 {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "id: e-0\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		c := p.dial(t, nil)
		time.Sleep(10 * time.Minute)
		p.say("", cancelNote)
		assert.Equal(t, cancelNote, receive(t, c))
		assert.Equal(t, 2, gets)
	})
}

// deafConn is a network connection whose peer is no longer heard once it is deaf.
type deafConn struct {
	net.Conn
	deaf atomic.Bool
}

func (c *deafConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.deaf.Load() {
			return n, err
		}
	}
}

// The Client of Dial sends pings over HTTP/2: a network connection that has gone silent is
// replaced, however many event streams use it.
func TestSilentConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		two := http2()
		h, conns := handler(&streamhttp.HandlerOptions{Resume: true})
		listener := pipenet.Listen()
		hs := &http.Server{Handler: h, Protocols: two}
		go hs.Serve(listener) // ends with the test
		t.Cleanup(func() { hs.Close() })
		var mu sync.Mutex // the transport may dial at the same time
		var dialed []*deafConn
		before := http.DefaultTransport
		http.DefaultTransport = &http.Transport{Protocols: two, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := listener.DialContext(ctx, network, address)
			mu.Lock()
			defer mu.Unlock()
			dialed = append(dialed, &deafConn{Conn: conn})
			return dialed[len(dialed)-1], err
		}}
		t.Cleanup(func() { http.DefaultTransport = before })
		client, end := (&server{conns: conns}).connect(t, nil)
		open(t, client, end)
		synctest.Wait() // the event stream of the session is open
		mu.Lock()
		require.Len(t, dialed, 1)
		dialed[0].deaf.Store(true)
		mu.Unlock()
		began := time.Now()
		update := `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"` + session + `"}}`
		require.NoError(t, end.Write([]byte(update)))
		assert.Equal(t, update, receive(t, client))
		assert.LessOrEqual(t, time.Since(began), 31*time.Second)
	})
}
