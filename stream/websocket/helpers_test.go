package websocket_test

import (
	"net/http"
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

func receive(t testing.TB, s stream.Stream) string {
	t.Helper()
	msg, err := s.Read()
	require.NoError(t, err)
	return string(msg)
}

// overTCP returns the ends of a connection that is initialized. Both are closed when the test ends.
func overTCP(t testing.TB, maxMessage int) (client, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{MaxMessage: maxMessage})
	s := httptest.NewServer(handler)
	defer s.Close()
	return connected(t, s.URL, conns, &websocket.DialOptions{MaxMessage: maxMessage})
}

// overPipe does the same in memory, for synctest. The connections are not buffered.
func overPipe(t testing.TB) (client, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(nil)
	return connected(t, "ws://server", conns, &websocket.DialOptions{Client: pipenet.Serve(t, handler, nil)})
}

func connected(t testing.TB, url string, conns <-chan *websocket.Conn, opts *websocket.DialOptions) (client, server *websocket.Conn) {
	t.Helper()
	client, err := websocket.Dial(t.Context(), url, opts)
	require.NoError(t, err)
	server = <-conns
	t.Cleanup(func() { client.Close(); server.Close() })
	require.NoError(t, client.Write([]byte(initialize)))
	assert.Equal(t, initialize, receive(t, server))
	require.NoError(t, server.Write([]byte(initialized)))
	assert.Equal(t, initialized, receive(t, client))
	return client, server
}

// rawConnect connects a client without the stream, for what a stream never does.
func rawConnect(t testing.TB) (client *raw.Conn, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(nil)
	s := httptest.NewServer(handler)
	defer s.Close()
	return rawConnected(t, s.URL, conns, nil)
}

// rawOverPipe does the same in memory.
func rawOverPipe(t testing.TB, maxMessage int) (client *raw.Conn, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{MaxMessage: maxMessage})
	return rawConnected(t, "ws://server", conns, &raw.DialOptions{HTTPClient: pipenet.Serve(t, handler, nil)})
}

func rawConnected(t testing.TB, url string, conns <-chan *websocket.Conn, opts *raw.DialOptions) (client *raw.Conn, server *websocket.Conn) {
	t.Helper()
	client, _, err := raw.Dial(t.Context(), url, opts)
	require.NoError(t, err)
	client.SetReadLimit(-1)
	server = <-conns
	t.Cleanup(func() { client.CloseNow(); server.Close() })
	return client, server
}

// exchange sends a text to the server, and the response to the client.
func exchange(t testing.TB, client *raw.Conn, server *websocket.Conn, text, response string) {
	t.Helper()
	sendText(t, client, text)
	assert.Equal(t, text, receive(t, server))
	require.NoError(t, server.Write([]byte(response)))
	assert.Equal(t, response, readText(t, client))
}

// sendText sends text frames.
func sendText(t testing.TB, client *raw.Conn, msgs ...string) {
	t.Helper()
	for _, msg := range msgs {
		require.NoError(t, client.Write(t.Context(), raw.MessageText, []byte(msg)))
	}
}

// readText reads a text frame.
func readText(t testing.TB, client *raw.Conn) string {
	t.Helper()
	kind, msg, err := client.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, raw.MessageText, kind)
	return string(msg)
}
