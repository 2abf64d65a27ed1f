package streamhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// scriptedServer is a server that does what a test says.
type scriptedServer struct {
	*httptest.Server                     // nil in a bubble
	client           *http.Client        // nil over TCP
	posts            chan stream.Message // what was posted after initialize, with 202

	mu      sync.Mutex // guards all below
	headers []http.Header
	streams map[string]chan string // what is written to an event stream; "end" ends it, "cut" cuts it

	// keepAlive is the time between two comments on an event stream; 0 means never.
	keepAlive time.Duration
	// post answers a POST in place of 202 if it returns true.
	post func(w http.ResponseWriter, r *http.Request, m stream.Message) bool
	// get answers a GET in place of an event stream if it returns true.
	get func(w http.ResponseWriter, r *http.Request) bool
}

func newScripted(t *testing.T) *scriptedServer {
	p := &scriptedServer{posts: make(chan stream.Message, 100), streams: map[string]chan string{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// scriptedInBubble is a scriptedServer in memory, with time that a test controls.
func scriptedInBubble(t *testing.T) *scriptedServer { return scriptedInBubbleOver(t, nil) }

// scriptedInBubbleOver is scriptedInBubble with other protocols than HTTP/1.1.
func scriptedInBubbleOver(t *testing.T, protocols *http.Protocols) *scriptedServer {
	p := &scriptedServer{posts: make(chan stream.Message, 100), streams: map[string]chan string{}}
	p.client = pipenet.Serve(t, p, protocols)
	return p
}

// on returns what is written to the event stream of a session.
func (p *scriptedServer) on(session string) chan string {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.streams[session]
	if c == nil {
		c = make(chan string, 5000)
		p.streams[session] = c
	}
	return c
}

func (p *scriptedServer) say(session, msg string) { p.on(session) <- "data: " + msg + "\n\n" }

func (p *scriptedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.headers = append(p.headers, r.Header.Clone())
	p.mu.Unlock()
	switch r.Method {
	case "POST":
		body, _ := io.ReadAll(r.Body)
		m := stream.ParseMessage(body)
		if p.post != nil && p.post(w, r, m) {
			return
		}
		if m.Method == "initialize" {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Acp-Connection-Id", "c1")
			io.WriteString(w, initialized)
			return
		}
		w.WriteHeader(202)
		if m.Method == "_acpkit/barrier" && m.SessionID == "" { // the connection goes on
			p.say("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID))
			return
		}
		p.posts <- m
	case "GET":
		if p.get != nil && p.get(w, r) {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		said := p.on(r.Header.Get("Acp-Session-Id"))
		var comments <-chan time.Time
		if p.keepAlive > 0 {
			comments = time.Tick(p.keepAlive)
		}
		for {
			select {
			case <-r.Context().Done():
				return
			case <-comments:
				io.WriteString(w, ":\n\n")
				w.(http.Flusher).Flush()
			case s := <-said:
				switch s {
				case "end":
					return
				case "cut":
					panic(http.ErrAbortHandler)
				}
				io.WriteString(w, s)
				w.(http.Flusher).Flush()
			}
		}
	case "DELETE":
		w.WriteHeader(202)
	}
}

// dial returns a client that is initialized.
func (p *scriptedServer) dial(t *testing.T, opts *streamhttp.DialOptions) *streamhttp.Client {
	t.Helper()
	c := p.raw(t, opts)
	require.NoError(t, c.Write([]byte(initialize)))
	require.Equal(t, initialized, receive(t, c))
	return c
}

func lost(t *testing.T, c *streamhttp.Client) *stream.LostError {
	t.Helper()
	_, err := c.Read()
	var l *stream.LostError
	require.ErrorAs(t, err, &l)
	return l
}

func request(id int, method, session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"sessionId":"%s"}}`, id, method, session)
}

const load = "session/load"

// A response carries the session of its request. It does not wait for a request that the server does
// not answer, but for the notifications before it, even if they wait for such a request: that one
// fails in the end.
func TestResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		p.keepAlive = 15 * time.Second
		p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
			if m.Method == "stuck" {
				return neverAnswer(w, r)
			}
			if m.Method == "slow" {
				time.Sleep(10 * time.Second)
			}
			return false
		}
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		<-p.posts
		ask := func(id string) string {
			p.say("s", `{"jsonrpc":"2.0","id":"`+id+`","method":"session/request_permission","params":{"sessionId":"s"}}`)
			receive(t, c)
			return `{"jsonrpc":"2.0","id":"` + id + `","result":{}}`
		}
		first, second, third := ask("a"), ask("b"), ask("c")
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"slow"}`)))
		require.NoError(t, c.Write([]byte(first)))
		assert.Equal(t, "slow", (<-p.posts).Method)
		assert.Equal(t, first, string((<-p.posts).Data))
		p.mu.Lock()
		assert.Equal(t, "s", p.headers[len(p.headers)-1].Get("Acp-Session-Id"))
		p.mu.Unlock()
		began := time.Now()
		require.NoError(t, c.Write([]byte(request(2, "stuck", "s"))))
		require.NoError(t, c.Write([]byte(second)))
		assert.Equal(t, second, string((<-p.posts).Data))
		assert.Zero(t, time.Since(began))
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"behind"}`)))
		require.NoError(t, c.Write([]byte(third)))
		l := lost(t, c)
		assert.Equal(t, "2", string(l.ID))
		assert.ErrorIs(t, l, streamhttp.ErrUncertain)
		assert.Equal(t, postLimit, time.Since(began))
		assert.Equal(t, "behind", (<-p.posts).Method)
		assert.Equal(t, third, string((<-p.posts).Data))
	})
}

// An event is delivered as soon as it is complete, whichever way its lines end. FuzzEvents has the
// other forms.
func TestEventFormats(t *testing.T) {
	msg := func(n int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"n":%d}}`, n) }
	for name, tt := range map[string]struct {
		events []string
		want   []string
	}{
		"CR":                {[]string{"data: " + msg(1) + "\r\rdata: " + msg(2) + "\r\r:\r"}, []string{msg(1), msg(2)}},
		"split CRLF":        {[]string{"data: " + msg(1) + "\r", "\n\r", "\ndata: " + msg(2) + "\n\n"}, []string{msg(1), msg(2)}},
		"not JSON":          {[]string{"data: {oops\n\ndata: \n\ndata\n\ndata: " + msg(1) + "\n\n"}, []string{msg(1)}},
		"unfinished at end": {[]string{"data: " + msg(1) + "\n\ndata: " + msg(2) + "\n", "end"}, []string{msg(1), msg(2)}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newScripted(t)
			c := p.dial(t, nil)
			for _, s := range tt.events {
				p.on("") <- s
			}
			for _, want := range tt.want {
				assert.Equal(t, want, receive(t, c))
			}
		})
	}
}

func TestEventTooLong(t *testing.T) {
	p := newScripted(t)
	c := p.dial(t, &streamhttp.DialOptions{MaxMessage: 1000})
	p.say("", `{"jsonrpc":"2.0","result":"`+strings.Repeat("x", 200_000)+`","id":5}`)
	p.say("", `{"jsonrpc":"2.0","method":"m"}`)
	_, err := c.Read()
	var long *stream.TooLargeError
	require.ErrorAs(t, err, &long)
	assert.Equal(t, "5", string(long.ID))
	assert.True(t, long.HasResult)
	assert.Contains(t, receive(t, c), `"m"`)

	// A request of the server with the id of a call is not its response, and belongs to a session too.
	require.NoError(t, c.Write([]byte(request(7, load, "s"))))
	assert.Equal(t, load, (<-p.posts).Method)
	p.say("s", `{"jsonrpc":"2.0","id":7,"method":"m","params":"`+strings.Repeat("x", 2000)+`"}`)
	_, err = c.Read()
	require.ErrorAs(t, err, &long)
	require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"long"}}`)))
	<-p.posts
	p.mu.Lock()
	assert.Equal(t, "s", p.headers[len(p.headers)-1].Get("Acp-Session-Id"))
	p.mu.Unlock()
	p.say("", `{"jsonrpc":"2.0","id":7,"result":{}}`)
	assert.Equal(t, "_acpkit/barrier", (<-p.posts).Method)
}

func TestHeadersAndCookies(t *testing.T) {
	p := newScripted(t)
	p.get = func(w http.ResponseWriter, r *http.Request) bool {
		http.SetCookie(w, &http.Cookie{Name: "pod", Value: "7"})
		return false
	}
	n := 0
	c := p.dial(t, &streamhttp.DialOptions{Header: func(context.Context) (http.Header, error) {
		n++
		return http.Header{"Authorization": {fmt.Sprint("Bearer ", n)}}, nil
	}})
	require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"x"}`)))
	<-p.posts
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Len(t, p.headers, 4, "initialize, the event stream, a POST, DELETE")
	for i, h := range p.headers {
		assert.Equal(t, fmt.Sprint("Bearer ", i+1), h.Get("Authorization"))
		assert.Empty(t, h.Get("Origin"))
		assert.Empty(t, h.Get("Acp-Session-Id"), "it belongs to no session")
	}
	assert.Empty(t, p.headers[0].Get("Acp-Connection-Id"))
	assert.Equal(t, "pod=7", p.headers[2].Get("Cookie"))
}

// raw returns a client that is not initialized.
func (p *scriptedServer) raw(t *testing.T, opts *streamhttp.DialOptions) *streamhttp.Client {
	t.Helper()
	var o streamhttp.DialOptions
	if opts != nil {
		o = *opts
	}
	url := "http://server/"
	if o.Client = p.client; p.Server != nil {
		url = p.URL
	}
	c, err := streamhttp.Dial(url, &o)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}
