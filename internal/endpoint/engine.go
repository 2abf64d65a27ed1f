package endpoint

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// Engine is the engine of a connection, usable before it exists: the connection is
// handed to the user's constructor, and the engine needs what the constructor returns.
// Until then calls fail. All methods may be called from any goroutine.
type Engine struct {
	conn    atomic.Pointer[rpc.Conn]
	started atomic.Bool

	mu   sync.Mutex    // guards done
	done chan struct{} // what Done returned while there was no engine
}

// Make makes the engine. It is called once, by New.
func (e *Engine) Make(cfg rpc.Config) {
	e.mu.Lock()
	defer e.mu.Unlock()
	cfg.Done = e.done
	e.conn.Store(rpc.New(cfg))
}

// Get returns the engine, or one that refuses everything.
func (e *Engine) Get() *rpc.Conn {
	if c := e.conn.Load(); c != nil {
		return c
	}
	return rpc.New(rpc.Config{Err: errors.New("acp: the connection is not ready yet: keep it, and use it when New has returned")})
}

// Start starts the engine.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.Get().Start(ctx); err != nil {
		return err
	}
	e.started.Store(true)
	return nil
}

// Started tells whether Start has succeeded.
func (e *Engine) Started() bool { return e.started.Load() }

// Done is closed when the connection has ended.
func (e *Engine) Done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.conn.Load(); c != nil {
		return c.Done()
	}
	if e.done == nil {
		e.done = make(chan struct{})
	}
	return e.done
}
