package remote

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

// registry holds the open connections of both transports.
type registry struct {
	max, maxEach int

	mu      sync.Mutex // guards the fields below
	live    map[*entry]struct{}
	owners  map[string]int
	closing bool
	empty   chan struct{} // closed when closing is set and the last connection has ended
}

// entry is one connection.
type entry struct {
	owner  string
	cancel context.CancelCauseFunc
	drain  func() // nil until the stream exists
}

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
	if g.closing || len(g.live) >= g.max {
		return nil, nil, nil, &stream.StatusError{Code: http.StatusServiceUnavailable}
	}
	if p != nil && g.owners[e.owner] >= g.maxEach {
		return nil, nil, nil, &stream.StatusError{Code: http.StatusTooManyRequests}
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
	if g.owners[e.owner]--; g.owners[e.owner] == 0 {
		delete(g.owners, e.owner)
	}
	if g.closing && len(g.live) == 0 {
		close(g.empty)
	}
}

// setDrain sets the function that makes the connection drain. It is called at once if
// the server is already shutting down.
func (g *registry) setDrain(e *entry, drain func()) {
	g.mu.Lock()
	e.drain = drain
	closing := g.closing
	g.mu.Unlock()
	if closing {
		drain()
	}
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
	var drains []func()
	for e := range g.live {
		if e.drain != nil {
			drains = append(drains, e.drain)
		}
	}
	g.mu.Unlock()
	for _, drain := range drains {
		drain()
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
