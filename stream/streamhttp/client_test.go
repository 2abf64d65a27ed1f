package streamhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// peer is a server that does what a test says.
type peer struct {
	*httptest.Server                     // nil in a bubble
	client           *http.Client        // nil over TCP
	posts            chan stream.Message // what was posted after initialize, with 202

	mu      sync.Mutex // guards all below
	headers []http.Header
	streams map[string]chan string // what is written to an event stream; "end" ends it, "cut" cuts it

	// post answers a POST in place of 202 if it returns true.
	post func(w http.ResponseWriter, r *http.Request, m stream.Message) bool
	// get answers a GET in place of an event stream if it returns true.
	get func(w http.ResponseWriter, r *http.Request) bool
}

func newPeer(t *testing.T) *peer {
	p := &peer{posts: make(chan stream.Message, 100), streams: map[string]chan string{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// bubblePeer is a peer in memory, with time that a test controls.
func bubblePeer(t *testing.T) *peer {
	p := &peer{posts: make(chan stream.Message, 100), streams: map[string]chan string{}}
	listener := pipenet.Listen()
	s := &http.Server{Handler: p}
	go s.Serve(listener) // ends with the test
	transport := &http.Transport{DialContext: listener.DialContext}
	p.client = &http.Client{Transport: transport}
	t.Cleanup(func() { transport.CloseIdleConnections(); s.Close() })
	return p
}

// on returns what is written to the event stream of a session.
func (p *peer) on(session string) chan string {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.streams[session]
	if c == nil {
		c = make(chan string, 5000)
		p.streams[session] = c
	}
	return c
}

func (p *peer) say(session, msg string) { p.on(session) <- "data: " + msg + "\n\n" }

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		p.posts <- m
	case "GET":
		if p.get != nil && p.get(w, r) {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		said := p.on(r.Header.Get("Acp-Session-Id"))
		for {
			select {
			case <-r.Context().Done():
				return
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
func (p *peer) dial(t *testing.T, opts *streamhttp.DialOptions) *streamhttp.Client {
	t.Helper()
	var c *streamhttp.Client
	if p.Server == nil {
		c = p.raw(t)
	} else {
		var err error
		c, err = streamhttp.Dial(p.URL, opts)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
	}
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

// A response that comes on the stream of the connection waits for what the server has
// sent on the stream of its session.
func TestBarrier(t *testing.T) {
	p := newPeer(t)
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, load, "s"))))
	<-p.posts
	p.say("", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	barrier := <-p.posts
	assert.Equal(t, stream.KindRequest, barrier.Kind)
	assert.Equal(t, "s", barrier.SessionID)
	assert.Equal(t, byte('"'), barrier.ID[0], "the id is a string")
	for n := range 2000 {
		p.say("s", fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d}}`, n))
	}
	p.say("s", `{"jsonrpc":"2.0","id":`+string(barrier.ID)+`,"error":{"code":-32601,"message":"Method not found"}}`)
	for n := range 2000 {
		assert.Contains(t, receive(t, c), fmt.Sprintf(`"n":%d}`, n))
	}
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, receive(t, c))
}

func TestBarrierIsNotWaitedForInVain(t *testing.T) {
	response := `{"jsonrpc":"2.0","id":1,"result":{}}`
	for name, tt := range map[string]struct {
		post func(w http.ResponseWriter, r *http.Request, m stream.Message) bool
		then func(p *peer)
		want time.Duration // from the last sign of life until the response is given out
	}{
		"it is refused": {post: func(w http.ResponseWriter, _ *http.Request, m stream.Message) bool {
			if strings.HasPrefix(m.Method, "_") {
				http.Error(w, "no", 400)
				return true
			}
			return false
		}},
		"the stream ends":    {then: func(p *peer) { p.on("s") <- "end" }},
		"nothing comes back": {want: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := bubblePeer(t)
				p.post = tt.post
				c := p.dial(t, nil)
				require.NoError(t, c.Write([]byte(request(1, load, "s"))))
				<-p.posts
				p.say("", response)
				if tt.post == nil {
					<-p.posts
				}
				if tt.then != nil {
					tt.then(p)
				}
				began := time.Now()
				assert.Equal(t, response, receive(t, c))
				assert.GreaterOrEqual(t, time.Since(began), tt.want)
				assert.LessOrEqual(t, time.Since(began), tt.want+500*time.Millisecond, "it is looked at four times a second")
			})
		})
	}
}

// The event stream of a subagent's session is opened when an update announces it.
func TestSubagent(t *testing.T) {
	p := newPeer(t)
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
	<-p.posts
	text := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"x","sessionId":"other","text":"subagent_update"}}}`
	p.say("s", text)
	assert.Equal(t, text, receive(t, c))
	announced := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"child"}}}`
	p.say("s", announced)
	assert.Equal(t, announced, receive(t, c))
	said := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"child","update":{"sessionUpdate":"x"}}}`
	p.say("child", said)
	assert.Equal(t, said, receive(t, c))
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.headers {
		assert.NotEqual(t, "other", h.Get("Acp-Session-Id"), "it was not announced")
	}
}

// A response on the stream of its session needs no barrier.
func TestNoBarrierOnTheSession(t *testing.T) {
	p := newPeer(t)
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, load, "s"))))
	<-p.posts
	p.say("s", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	receive(t, c)
	assert.Empty(t, p.posts)
}

// A cancel that overtakes its request is held until the request has come.
func TestCancelIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bubblePeer(t)
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		<-p.posts
		cancel := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`
		asked := `{"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s"}}`
		p.say("", cancel)
		p.say("", `{"jsonrpc":"2.0","method":"_x"}`)
		assert.Contains(t, receive(t, c), "_x")
		p.say("s", asked)
		assert.Equal(t, asked, receive(t, c))
		assert.Equal(t, cancel, receive(t, c))
		p.say("", cancel) // the request is there
		assert.Equal(t, cancel, receive(t, c))
		began := time.Now()
		unknown := strings.Replace(cancel, `"a"`, `"b"`, 1)
		p.say("", unknown)
		assert.Equal(t, unknown, receive(t, c))
		assert.Equal(t, time.Second, time.Since(began))
	})
}

// A response carries the session of its request, and waits for the notifications before
// it but not for a request that is stuck.
func TestResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bubblePeer(t)
		release := make(chan struct{})
		p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
			if m.Method == "stuck" {
				<-release
			}
			if m.Method == "slow" {
				time.Sleep(10 * time.Second)
			}
			return false
		}
		defer sync.OnceFunc(func() { close(release) })()
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		<-p.posts
		ask := func(id string) string {
			p.say("s", `{"jsonrpc":"2.0","id":"`+id+`","method":"session/request_permission","params":{"sessionId":"s"}}`)
			receive(t, c)
			return `{"jsonrpc":"2.0","id":"` + id + `","result":{}}`
		}
		first, second := ask("a"), ask("b")
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"slow"}`)))
		require.NoError(t, c.Write([]byte(first)))
		assert.Equal(t, "slow", (<-p.posts).Method)
		assert.Equal(t, first, string((<-p.posts).Data))
		p.mu.Lock()
		assert.Equal(t, "s", p.headers[len(p.headers)-1].Get("Acp-Session-Id"))
		p.mu.Unlock()
		require.NoError(t, c.Write([]byte(request(2, "stuck", "s"))))
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"behind"}`)))
		require.NoError(t, c.Write([]byte(second)))
		assert.Equal(t, second, string((<-p.posts).Data))
	})
}

func TestPostFails(t *testing.T) {
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, "because", code) }
	}
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	ask := request(1, "session/prompt", "s")
	note := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	for name, tt := range map[string]struct {
		answer    func(http.ResponseWriter)
		msg       string
		fatal     bool
		session   bool
		uncertain bool
		code      int
	}{
		"500 on a request":      {answer: status(500), msg: ask, code: 500},
		"413 on a request":      {answer: status(413), msg: ask, code: 413},
		"400 on a request":      {answer: status(400), msg: ask, code: 400},
		"409 on a request":      {answer: status(409), msg: ask, code: 409, session: true},
		"cut on a request":      {answer: cut, msg: ask, uncertain: true},
		"401 on a request":      {answer: status(401), msg: ask, code: 401, fatal: true},
		"403 on a request":      {answer: status(403), msg: ask, code: 403, fatal: true},
		"404 on a request":      {answer: status(404), msg: ask, code: 404, fatal: true},
		"410 on a request":      {answer: status(410), msg: ask, code: 410, fatal: true},
		"302 on a request":      {answer: status(302), msg: ask, code: 302},
		"500 on a notification": {answer: status(500), msg: note, code: 500, fatal: true},
		"cut on a notification": {answer: cut, msg: note, fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			var posts atomic.Int32
			p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
				if string(m.Data) == tt.msg {
					posts.Add(1)
					tt.answer(w)
				}
				return string(m.Data) == tt.msg
			}
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(tt.msg)))
			_, err := c.Read()
			require.Error(t, err)
			l, isLost := errors.AsType[*stream.LostError](err)
			assert.Equal(t, !tt.fatal, isLost, "%v", err)
			assert.Equal(t, tt.uncertain, errors.Is(err, streamhttp.ErrUncertain))
			s, _ := errors.AsType[*stream.StatusError](err)
			if tt.code != 0 {
				require.NotNil(t, s)
				assert.Equal(t, tt.code, s.Code)
			}
			if isLost && tt.session {
				assert.Equal(t, "s", l.SessionID)
			} else if isLost {
				assert.Equal(t, "1", string(l.ID))
			}
			if isLost { // the connection goes on
				require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"next"}`)))
				assert.Equal(t, "next", (<-p.posts).Method)
			} else {
				assert.NotErrorIs(t, err, io.EOF)
			}
			assert.Equal(t, int32(1), posts.Load(), "it is never repeated")
		})
	}
}

func TestStreamFails(t *testing.T) {
	refuse := func(code int, session string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Acp-Session-Id") == session {
				http.Error(w, "no", code)
				return true
			}
			return false
		}
	}
	for _, code := range []int{403, 404, 409, 500} {
		t.Run(fmt.Sprint("session ", code), func(t *testing.T) {
			p := newPeer(t)
			p.get = refuse(code, "s")
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
			_, err := c.Read()
			require.ErrorAs(t, err, new(*stream.LostError))
			var status *stream.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, code, status.Code)
			require.NoError(t, c.Write([]byte(request(2, "session/prompt", "other"))))
			for m := range p.posts {
				if m.SessionID == "other" {
					break
				}
			}
		})
		t.Run(fmt.Sprint("connection ", code), func(t *testing.T) {
			p := newPeer(t)
			p.get = refuse(code, "")
			c, err := streamhttp.Dial(p.URL, nil)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.Write([]byte(initialize)))
			_, err = c.Read()
			var status *stream.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, code, status.Code)
		})
	}
}

// Some servers know a session only after it was loaded.
func TestLoadOfAnUnknownSession(t *testing.T) {
	p := newPeer(t)
	var known sync.Map
	p.get = func(w http.ResponseWriter, r *http.Request) bool {
		id := r.Header.Get("Acp-Session-Id")
		if _, ok := known.Load(id); id == "" || ok {
			return false
		}
		http.Error(w, "not owned", http.StatusForbidden)
		return true
	}
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, load, "s"))))
	<-p.posts
	known.Store("s", true)
	p.say("", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	barrier := <-p.posts
	p.say("s", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`)
	p.say("s", `{"jsonrpc":"2.0","id":`+string(barrier.ID)+`,"result":1}`)
	assert.Contains(t, receive(t, c), "session/update")
	assert.Contains(t, receive(t, c), `"id":1`)
}

func TestCuts(t *testing.T) {
	for name, tt := range map[string]struct {
		session, how string
		clean, fatal bool
	}{
		"session ended":    {session: "s", how: "end"},
		"session cut":      {session: "s", how: "cut"},
		"connection ended": {how: "end", fatal: true, clean: true},
		"connection cut":   {how: "cut", fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
			<-p.posts
			p.on(tt.session) <- tt.how
			if tt.how == "end" && tt.fatal {
				p.on("s") <- "end" // a server that ends all ends this as well
				assert.Equal(t, "1", string(lost(t, c).ID))
			}
			_, err := c.Read()
			require.Error(t, err)
			_, isLost := errors.AsType[*stream.LostError](err)
			assert.Equal(t, !tt.fatal, isLost)
			assert.Equal(t, tt.clean, errors.Is(err, io.EOF), "%v", err)
			if !tt.fatal {
				require.NoError(t, c.Write([]byte(request(2, "session/prompt", "s"))))
				<-p.posts // the stream is open again
				p.say("s", `{"jsonrpc":"2.0","id":2,"result":{}}`)
				assert.Contains(t, receive(t, c), `"id":2`)
			}
		})
	}
}

func TestEventFormats(t *testing.T) {
	msg := func(n int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"n":%d}}`, n) }
	for name, tt := range map[string]struct {
		events []string
		want   []string
	}{
		"CRLF":              {[]string{"data: " + msg(1) + "\r\n\r\ndata: " + msg(2) + "\r\n\r\n"}, []string{msg(1), msg(2)}},
		"CR":                {[]string{"data: " + msg(1) + "\r\rdata: " + msg(2) + "\r\r:\r"}, []string{msg(1), msg(2)}},
		"split CRLF":        {[]string{"data: " + msg(1) + "\r", "\n\r", "\ndata: " + msg(2) + "\n\n"}, []string{msg(1), msg(2)}},
		"byte order mark":   {[]string{"\xef\xbb\xbfdata: " + msg(1) + "\n\n"}, []string{msg(1)}},
		"split mark":        {[]string{"\xef", "\xbb", "\xbfdata: " + msg(1) + "\n\n"}, []string{msg(1)}},
		"byte by byte":      {strings.Split(":\n\nid: 1\nevent: message\ndata:"+msg(1)+"\n\n", ""), []string{msg(1)}},
		"several lines":     {[]string{"data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"m\"}\n\n"}, []string{"{\"jsonrpc\":\"2.0\",\n\"method\":\"m\"}"}},
		"other fields":      {[]string{"retry: 3\nfoo\ndatum: x\nid\nevent: e\n: comment\ndata: " + msg(1) + "\n\n"}, []string{msg(1)}},
		"no data":           {[]string{"id: 7\n\nevent: x\n\ndata: " + msg(1) + "\n\n"}, []string{msg(1)}},
		"not JSON":          {[]string{"data: {oops\n\ndata: \n\ndata\n\ndata: " + msg(1) + "\n\n"}, []string{msg(1)}},
		"unfinished at end": {[]string{"data: " + msg(1) + "\n\ndata: " + msg(2) + "\n", "end"}, []string{msg(1), msg(2)}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
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
	p := newPeer(t)
	c := p.dial(t, &streamhttp.DialOptions{MaxMessage: 1000})
	p.say("", `{"jsonrpc":"2.0","result":"`+strings.Repeat("x", 200_000)+`","id":5}`)
	p.say("", `{"jsonrpc":"2.0","method":"m"}`)
	_, err := c.Read()
	var long *stream.TooLargeError
	require.ErrorAs(t, err, &long)
	assert.Equal(t, "5", string(long.ID))
	assert.True(t, long.HasResult)
	assert.Contains(t, receive(t, c), `"m"`)
}

// A stream that is silent is cut.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bubblePeer(t)
		c := p.dial(t, nil)
		began := time.Now()
		_, err := c.Read()
		assert.ErrorContains(t, err, "silent")
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestHeadersAndCookies(t *testing.T) {
	p := newPeer(t)
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

func TestInitializeFails(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"status": {func(w http.ResponseWriter) { http.Error(w, "", http.StatusServiceUnavailable) }, "503"},
		"202":    {func(w http.ResponseWriter) { w.WriteHeader(202) }, "202"},
		"no id":  {func(w http.ResponseWriter) { io.WriteString(w, initialized) }, "not one of this protocol"},
		"another id": {func(w http.ResponseWriter) {
			w.Header().Set("Acp-Connection-Id", "c")
			io.WriteString(w, strings.Replace(initialized, "0", "1", 1))
		}, "not one of this protocol"},
		"no response": {func(w http.ResponseWriter) { w.Header().Set("Acp-Connection-Id", "c"); io.WriteString(w, initialize) }, "not one of this protocol"},
		"not JSON":    {func(w http.ResponseWriter) { w.Header().Set("Acp-Connection-Id", "c"); io.WriteString(w, "<html>") }, "not one of this protocol"},
		"cut":         {func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			p.post = func(w http.ResponseWriter, _ *http.Request, _ stream.Message) bool { tt.answer(w); return true }
			c, err := streamhttp.Dial(p.URL, nil)
			require.NoError(t, err)
			defer c.Close()
			assert.Error(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"x"}`)), "initialize comes first")
			require.NoError(t, c.Write([]byte(initialize)))
			_, err = c.Read()
			assert.ErrorContains(t, err, tt.want)
			assert.NotErrorIs(t, err, io.EOF)
			assert.NotContains(t, err.Error(), p.URL, "a URL may hold a secret")
		})
	}
}

// raw returns a client that is not initialized.
func (p *peer) raw(t *testing.T) *streamhttp.Client {
	t.Helper()
	url := "http://server/"
	if p.Server != nil {
		url = p.URL
	}
	c, err := streamhttp.Dial(url, &streamhttp.DialOptions{Client: p.client})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}
