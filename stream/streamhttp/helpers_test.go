package streamhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

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
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s.Config.Protocols = protocols
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// connect returns the ends of a connection that is initialized.
func (s *server) connect(t testing.TB, opts *streamhttp.DialOptions) (*streamhttp.Client, *serverEnd) {
	t.Helper()
	url := "http://server/"
	if s.Server != nil {
		url = s.URL
	} else {
		opts = &streamhttp.DialOptions{Client: s.client}
	}
	client, err := streamhttp.Dial(url, opts)
	require.NoError(t, err)
	require.NoError(t, client.Write([]byte(initialize)))
	end := <-s.conns
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

func h2c() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}
