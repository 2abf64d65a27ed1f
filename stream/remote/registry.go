package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// registry holds the open connections of both transports.
type registry struct {
	max, maxEach int

	mu      sync.Mutex // guards the fields below
	live    map[*entry]struct{}
	total   int64 // with those that have ended
	owners  map[string]int
	closing bool
	empty   chan struct{} // closed when closing is set and the last connection has ended

	received, sent int64 // bytes of WebSockets that have ended
}

// entry is one connection.
type entry struct {
	owner  string
	cancel context.CancelCauseFunc
	conn   conn // nil until the stream exists
}

// conn is the stream of a connection.
type conn interface{ Drain() }

var (
	errRevoked  = errors.New("remote: the principal was revoked")
	errShutdown = errors.New("remote: the server shuts down")
)

func newRegistry(max, maxEach int) *registry {
	return &registry{max: max, maxEach: maxEach, live: map[*entry]struct{}{}, owners: map[string]int{}, empty: make(chan struct{})}
}

// add admits a connection, or returns a *stream.StatusError. The ctx it returns ends when the
// connection must end. done removes the entry.
func (g *registry) add(ctx context.Context, p *Principal) (_ context.Context, e *entry, done func(), err error) {
	e = &entry{}
	if p != nil {
		e.owner = p.ID
		ctx = context.WithValue(ctx, principalKey{}, p)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return nil, nil, nil, fmt.Errorf("%w: %w", errShutdown, &stream.StatusError{Code: http.StatusServiceUnavailable})
	}
	if len(g.live) >= g.max {
		return nil, nil, nil, fmt.Errorf("remote: MaxConnections exist: %w", &stream.StatusError{Code: http.StatusServiceUnavailable})
	}
	if p != nil && g.owners[e.owner] >= g.maxEach {
		return nil, nil, nil, fmt.Errorf("remote: the principal has MaxPrincipalConnections: %w", &stream.StatusError{Code: http.StatusTooManyRequests})
	}
	ctx, e.cancel = context.WithCancelCause(ctx)
	g.live[e] = struct{}{}
	g.owners[e.owner]++
	if p != nil && p.Revoked != nil {
		go func() { // ends with the connection
			select {
			case <-p.Revoked:
				e.cancel(errRevoked)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, e, sync.OnceFunc(func() { g.remove(e) }), nil
}

func (g *registry) remove(e *entry) {
	e.cancel(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, e)
	received, sent := e.bytes()
	g.received += received
	g.sent += sent
	if g.owners[e.owner]--; g.owners[e.owner] == 0 {
		delete(g.owners, e.owner)
	}
	if g.closing && len(g.live) == 0 {
		close(g.empty)
	}
}

// setConn sets the stream of a connection. It is drained at once if the server is already
// shutting down.
func (g *registry) setConn(e *entry, c conn) {
	g.mu.Lock()
	e.conn = c
	g.total++
	closing := g.closing
	g.mu.Unlock()
	if closing {
		c.Drain()
	}
}

// bytes returns how many bytes a WebSocket has carried: those of streamable HTTP are counted by
// its handler.
func (e *entry) bytes() (received, sent int64) {
	if ws, ok := e.conn.(*websocket.Conn); ok {
		return ws.Bytes()
	}
	return 0, 0
}

// stats returns the numbers of all connections, and the bytes of WebSockets.
func (g *registry) stats() ServerStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := ServerStats{
		Connections: int64(len(g.live)), ConnectionsTotal: g.total, BytesReceived: g.received, BytesSent: g.sent,
	}
	for e := range g.live {
		received, sent := e.bytes()
		s.BytesReceived += received
		s.BytesSent += sent
	}
	return s
}

// shutDown refuses new connections and drains the others. When ctx is done, it cancels those that
// are still open.
func (g *registry) shutDown(ctx context.Context) error {
	g.mu.Lock()
	first := !g.closing
	g.closing = true
	if first && len(g.live) == 0 {
		close(g.empty)
	}
	var conns []conn
	for e := range g.live {
		if e.conn != nil {
			conns = append(conns, e.conn)
		}
	}
	g.mu.Unlock()
	for _, c := range conns {
		c.Drain()
	}
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	for e := range g.live {
		e.cancel(errShutdown)
	}
	g.mu.Unlock()
	<-g.empty // the connection does not wait for a handler that ignores its ctx
	return context.Cause(ctx)
}
