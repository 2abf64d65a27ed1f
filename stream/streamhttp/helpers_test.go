package streamhttp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
	"github.com/acpkit/go-sdk/stream/streamtest"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
	newSession  = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}`
	session     = streamtest.SessionID
	sessionMade = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"` + session + `"}}`
)

// serverEnd is the server's end in the hands of a test: serve returns with its Close.
type serverEnd struct {
	*streamhttp.Conn
	released chan struct{}
	close    sync.Once
}

func (e *serverEnd) Close() error {
	err := e.Conn.Close()
	e.close.Do(func() { close(e.released) })
	return err
}

// server is a handler whose connections go to the test.
type server struct {
	*httptest.Server // nil in a bubble
	conns            chan *serverEnd
	client           *http.Client // nil over TCP
}

func handler(opts *streamhttp.HandlerOptions) (*streamhttp.Handler, chan *serverEnd) {
	conns := make(chan *serverEnd, 16)
	return streamhttp.NewHandler(func(ctx context.Context, s stream.Stream) error {
		e := &serverEnd{Conn: s.(*streamhttp.Conn), released: make(chan struct{})}
		conns <- e
		<-e.released
		return nil
	}, opts), conns
}

func serve(t testing.TB, opts *streamhttp.HandlerOptions) *server {
	t.Helper()
	h, conns := handler(opts)
	s := &server{Server: httptest.NewUnstartedServer(h), conns: conns}
	s.Config.Protocols = http2()
	s.Config.Protocols.SetHTTP1(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// url returns the URL of the server.
func (s *server) url() string {
	if s.Server == nil {
		return "http://server/"
	}
	return s.URL
}

// connect returns the ends of a connection that is initialized. Both are closed when the test ends.
func (s *server) connect(t testing.TB, opts *streamhttp.DialOptions) (*streamhttp.Client, *serverEnd) {
	t.Helper()
	if s.Server == nil {
		opts = &streamhttp.DialOptions{Client: s.client}
	}
	client, err := streamhttp.Dial(s.url(), opts)
	require.NoError(t, err)
	require.NoError(t, client.Write([]byte(initialize)))
	end := <-s.conns
	t.Cleanup(func() { client.Close(); end.Close() })
	assert.Equal(t, initialize, receive(t, end))
	require.NoError(t, end.Write([]byte(initialized)))
	assert.Equal(t, initialized, receive(t, client))
	return client, end
}

// open makes a session on a connection.
func open(t testing.TB, client, end stream.Stream) {
	t.Helper()
	require.NoError(t, client.Write([]byte(newSession)))
	assert.Equal(t, newSession, receive(t, end))
	require.NoError(t, end.Write([]byte(sessionMade)))
	assert.Equal(t, sessionMade, receive(t, client))
}

func receive(t testing.TB, s stream.Stream) string {
	t.Helper()
	msg, err := s.Read()
	require.NoError(t, err)
	return string(msg)
}

// http2 is HTTP/2 without TLS.
func http2() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// statusOf returns the status of the response that is the reason for an error, or 0.
func statusOf(err error) int {
	if status, ok := errors.AsType[*stream.StatusError](err); ok {
		return status.Code
	}
	return 0
}

// inBubble runs a test in a synctest bubble.
func inBubble(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// rawClient is a client without a stream, so that a test can send what a stream never sends.
type rawClient struct {
	t   testing.TB
	url string
	id  string // of the connection

	client *http.Client // nil over TCP
}

// request makes a request; header holds names and values.
func (c *rawClient) request(method, body string, header ...string) *http.Response {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	require.NoError(c.t, err)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == "GET" {
		r.Header.Set("Accept", "text/event-stream")
	}
	if c.id != "" {
		r.Header.Set("Acp-Connection-Id", c.id)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	client := http.DefaultClient
	if c.client != nil {
		client = c.client
	}
	resp, err := client.Do(r)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (c *rawClient) post(body string, header ...string) int {
	c.t.Helper()
	resp := c.request("POST", body, header...)
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// rawEvents reads an event stream line by line.
type rawEvents struct {
	t    testing.TB
	resp *http.Response
	r    *bufio.Reader
	id   string
}

func (c *rawClient) events(header ...string) *rawEvents {
	c.t.Helper()
	resp := c.request("GET", "", header...)
	assert.Equal(c.t, "text/event-stream", resp.Header.Get("Content-Type"))
	return eventsOf(c.t, resp)
}

// next returns the data of the next event.
func (e *rawEvents) next() string {
	e.t.Helper()
	var data []string
	for {
		line, err := e.r.ReadString('\n')
		require.NoError(e.t, err)
		line = strings.TrimSuffix(line, "\n")
		if value, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, value)
		}
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			e.id = value
		}
		if line == "" && data != nil {
			return strings.Join(data, "\n")
		}
	}
}

// later posts a message, and returns where the response arrives.
func (c *rawClient) later(body string, header ...string) <-chan *http.Response {
	answered := make(chan *http.Response, 1)
	go func() { answered <- c.request("POST", body, header...) }() // ends with the response
	return answered
}

// raw returns a client that has no connection.
func (s *server) raw(t testing.TB) *rawClient {
	return &rawClient{t: t, url: s.url(), client: s.client}
}

// connectRaw initializes a connection.
func (s *server) connectRaw(t testing.TB) (*rawClient, *serverEnd) {
	t.Helper()
	c := s.raw(t)
	answered := c.later(initialize)
	end := <-s.conns
	t.Cleanup(func() { end.Close() })
	assert.Equal(t, initialize, receive(t, end))
	require.NoError(t, end.Write([]byte(initialized)))
	resp := <-answered
	require.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, initialized, string(body))
	c.id = resp.Header.Get("Acp-Connection-Id")
	assert.Equal(t, end.ConnectionID(), c.id)
	return c, end
}

// rest returns what remains of an event stream that has ended cleanly.
func (e *rawEvents) rest() string {
	e.t.Helper()
	rest, err := io.ReadAll(e.r)
	require.NoError(e.t, err)
	return string(rest)
}
