package websocket_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"testing"

	raw "github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/websocket"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
)

// accepting returns a handler that accepts, and the server's ends.
func accepting(opts *websocket.AcceptOptions) (http.HandlerFunc, <-chan *websocket.Conn) {
	conns := make(chan *websocket.Conn, 16)
	return func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, opts); err == nil {
			conns <- c
		}
	}, conns
}

// greet initializes a connection.
func greet(t testing.TB, client, server stream.Stream) {
	t.Helper()
	require.NoError(t, client.Write([]byte(initialize)))
	assert.Equal(t, initialize, receive(t, server))
	require.NoError(t, server.Write([]byte(initialized)))
	assert.Equal(t, initialized, receive(t, client))
}

func receive(t testing.TB, s stream.Stream) string {
	t.Helper()
	msg, err := s.Read()
	require.NoError(t, err)
	return string(msg)
}

// overTCP returns the ends of a connection that is initialized.
func overTCP(t testing.TB, opts websocket.Options) (client, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{Options: opts})
	s := httptest.NewServer(handler)
	defer s.Close()
	client, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Options: opts})
	require.NoError(t, err)
	server = <-conns
	greet(t, client, server)
	return client, server
}

// overPipe does the same in memory, for synctest. The connections are not buffered.
func overPipe(t testing.TB, opts websocket.Options) (client, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{Options: opts})
	listener := pipenet.Listen()
	s := &http.Server{Handler: handler}
	go s.Serve(listener) // ends with the test
	transport := &http.Transport{DialContext: listener.DialContext}
	t.Cleanup(func() { transport.CloseIdleConnections(); s.Close() })
	client, err := websocket.Dial(t.Context(), "ws://server", &websocket.DialOptions{Options: opts, Client: &http.Client{Transport: transport}})
	require.NoError(t, err)
	server = <-conns
	t.Cleanup(func() { client.Close(); server.Close() })
	greet(t, client, server)
	return client, server
}

// rawClient connects without the stream, for what a stream never does.
func rawClient(t testing.TB, url string) *raw.Conn {
	t.Helper()
	c, _, err := raw.Dial(t.Context(), url, nil)
	require.NoError(t, err)
	c.SetReadLimit(-1)
	t.Cleanup(func() { c.CloseNow() })
	return c
}

func streamJar(t testing.TB) http.CookieJar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return jar
}

// rawServer accepts without the stream.
func rawServer(conns chan<- *raw.Conn) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c, err := raw.Accept(w, r, nil); err == nil {
			c.SetReadLimit(-1)
			conns <- c
		}
	}
}
