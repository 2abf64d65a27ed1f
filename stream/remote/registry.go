package remote

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

// registry knows the connections of both profiles that live.
type registry struct {
	max, maxEach int

	mu      sync.Mutex // guards all below
	live    map[*entry]struct{}
	owners  map[string]int
	closing bool
	empty   chan struct{} // closed when the last one ends, once closing is set
}

// entry is one connection.
type entry struct {
	owner  string
	cancel context.CancelCauseFunc
	drain  func() // nil until the stream is there
}

var (
	errRevoked  = errors.New("remote: the principal was revoked")
	errShutdown = errors.New("remote: the server shuts down")
)

func newRegistry(max, maxEach int) *registry {
	return &registry{max: max, maxEach: maxEach, live: map[*entry]struct{}{}, owners: map[string]int{}, empty: make(chan struct{})}
}

// add admits a connection, or returns a *stream.StatusError. ctx ends when the
// connection must; done ends its entry.
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

// shutDown refuses new connections, drains the others, and cancels those that live when
// ctx is done.
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
	<-g.empty // a handler that ignores its ctx is left by its connection
	return context.Cause(ctx)
}
