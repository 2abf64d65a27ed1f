// Copied to client/v2 by go generate.

package client

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// effects records whether a prompt that may be sent again has had an effect, that is, whether the
// agent has sent an update or a request while the prompt was in flight.
type effects struct {
	open atomic.Int32 // the length of watched, so that messages need not lock mu

	mu      sync.Mutex // guards watched
	watched map[*watch]struct{}
}

// watch is a prompt in flight and its attempt.
type watch struct {
	id      acp.SessionID
	attempt *attempt
}

// attempt is a call of SignInAndRetry that may be repeated.
type attempt struct{ effect atomic.Bool }

// attemptKey is the ctx key for the attempt on a connection.
type attemptKey struct{ conn *Conn }

// begin watches a prompt if ctx belongs to an attempt. The caller must call end when the prompt has
// ended.
func (e *effects) begin(ctx context.Context, c *Conn, id acp.SessionID) (end func()) {
	a, ok := ctx.Value(attemptKey{c}).(*attempt)
	if !ok {
		return func() {}
	}
	w := &watch{id, a}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watched == nil {
		e.watched = map[*watch]struct{}{}
	}
	e.watched[w] = struct{}{}
	e.open.Add(1)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watched, w)
		e.open.Add(-1)
	}
}

// note records that the agent has sent a message with these params.
func (e *effects) note(params any) {
	if e.open.Load() == 0 {
		return
	}
	id, known := sessionOf(params)
	e.mu.Lock()
	defer e.mu.Unlock()
	for w := range e.watched {
		if !known || w.id == id {
			w.attempt.effect.Store(true)
		}
	}
}

// noting changes cfg so that e sees every request and every update, including those that a
// middleware does not pass on and those that are refused or dropped. The session of a refused or
// dropped message is not known.
func (e *effects) noting(cfg *rpc.Config) {
	cfg.OnRefused = func(string) { e.note(nil) }
	onDropped := cfg.OnDropped
	cfg.OnDropped = func(method string, err error) {
		e.note(nil)
		if onDropped != nil {
			onDropped(method, err)
		}
	}
	for _, entry := range cfg.Entries {
		handle := entry.Handle
		entry.Handle = func(ctx context.Context, params any) (any, error) {
			e.note(params)
			return handle(ctx, params)
		}
	}
	if handle := cfg.Extension; handle != nil {
		cfg.Extension = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			e.note(nil)
			return handle(ctx, method, params)
		}
	}
	if len(cfg.Receiving) == 0 {
		return
	}
	first := func(next rpc.Handler) rpc.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			e.note(params)
			return next(ctx, method, params)
		}
	}
	cfg.Receiving = append([]rpc.Middleware{first}, cfg.Receiving...)
}
