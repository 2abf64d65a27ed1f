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
func overTCP(t testing.TB, maxMessage int) (client, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{MaxMessage: maxMessage})
	s := httptest.NewServer(handler)
	defer s.Close()
	client, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{MaxMessage: maxMessage})
	require.NoError(t, err)
	server = <-conns
	greet(t, client, server)
	return client, server
}

// overPipe does the same in memory, for synctest. The connections are not buffered.
func overPipe(t testing.TB, maxMessage int) (client, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{MaxMessage: maxMessage})
	client, err := websocket.Dial(t.Context(), "ws://server", &websocket.DialOptions{MaxMessage: maxMessage, Client: pipenet.Serve(t, handler, nil)})
	require.NoError(t, err)
	server = <-conns
	t.Cleanup(func() { client.Close(); server.Close() })
	greet(t, client, server)
	return client, server
}

// rawConnect connects a client without the stream, for what a stream never does.
func rawConnect(t testing.TB) (client *raw.Conn, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(nil)
	s := httptest.NewServer(handler)
	defer s.Close()
	client, _, err := raw.Dial(t.Context(), s.URL, nil)
	require.NoError(t, err)
	client.SetReadLimit(-1)
	server = <-conns
	t.Cleanup(func() { client.CloseNow(); server.Close() })
	return client, server
}

// rawOverPipe does the same in memory.
func rawOverPipe(t testing.TB, maxMessage int) (client *raw.Conn, server *websocket.Conn) {
	t.Helper()
	handler, conns := accepting(&websocket.AcceptOptions{MaxMessage: maxMessage})
	client, _, err := raw.Dial(t.Context(), "ws://server", &raw.DialOptions{HTTPClient: pipenet.Serve(t, handler, nil)})
	require.NoError(t, err)
	server = <-conns
	t.Cleanup(func() { client.CloseNow(); server.Close() })
	return client, server
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
