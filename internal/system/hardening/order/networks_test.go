package order_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// profile is one way to carry messages over a network.
type profile string

const (
	overWebSocket  profile = "WebSocket"
	overHTTP       profile = "HTTP"
	overHTTPResume profile = "HTTP with resume"
)

// connect returns the ends of a connection that is not initialized. The network between them, in
// memory, is closed when the test ends. The caller closes the ends.
func (p profile) connect(t *testing.T) (server, client stream.Stream) {
	t.Helper()
	end := &serverEnd{ready: make(chan struct{}), closed: make(chan struct{})}
	var handler http.Handler
	if p == overWebSocket {
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Errorf("accepting: %v", err)
				return
			}
			end.become(conn)
		})
	} else {
		handler = streamhttp.NewHandler(func(_ context.Context, s stream.Stream) error {
			end.become(s)
			<-end.closed
			return nil
		}, &streamhttp.HandlerOptions{Resume: p == overHTTPResume})
	}
	client, err := dial(p, pipenet.Serve(t, handler, nil))
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	if p == overWebSocket {
		<-end.ready
		return end.s, client
	}
	return end, client
}

func dial(p profile, c *http.Client) (stream.Stream, error) {
	if p == overWebSocket {
		return websocket.Dial(context.Background(), "ws://server/", &websocket.DialOptions{Client: c})
	}
	return streamhttp.Dial("http://server/", &streamhttp.DialOptions{Client: c})
}

// serverEnd is a server's end. The server makes its stream after the first message of the client.
type serverEnd struct {
	ready  chan struct{} // closed when s is set
	closed chan struct{} // closed by Close
	close  sync.Once
	s      stream.Stream
}

func (e *serverEnd) become(s stream.Stream) {
	e.s = s
	close(e.ready)
}

// there waits until the stream exists, and reports whether it does.
func (e *serverEnd) there() bool {
	select {
	case <-e.ready:
		return true
	case <-e.closed:
	}
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

func (e *serverEnd) Read() ([]byte, error) {
	if !e.there() {
		return nil, stream.ErrClosed
	}
	return e.s.Read()
}

func (e *serverEnd) Write(msg []byte) error { return e.WriteMessage(stream.ParseMessage(msg)) }

// Features returns the features that a network stream needs.
func (e *serverEnd) Features() *stream.Features {
	return &stream.Features{WriteMessage: e.WriteMessage}
}

// WriteMessage waits until the stream exists.
func (e *serverEnd) WriteMessage(m stream.Message) error {
	if !e.there() {
		return stream.ErrClosed
	}
	_, write := stream.FeaturesOf(e.s).Messages(e.s)
	return write(m)
}

func (e *serverEnd) Close() error {
	e.close.Do(func() { close(e.closed) })
	if !e.there() {
		return nil
	}
	return e.s.Close()
}
