package talk

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Effects records whether a prompt that may be sent again has had an effect, that is, whether the
// agent has sent an update or a request while the prompt was in flight.
type Effects struct {
	// SessionOf returns the session that a message of the agent belongs to. ok is false if the
	// params name none.
	SessionOf func(params any) (id string, ok bool)

	open atomic.Int32 // the length of watched, so that messages need not lock mu

	mu      sync.Mutex // guards watched
	watched map[*watch]struct{}
}

// watch is a prompt in flight and its attempt.
type watch struct {
	id      string
	attempt *attempt
}

// attempt is a call of Retry that may be repeated.
type attempt struct{ effect atomic.Bool }

// attemptKey is the ctx key for the attempt on a connection.
type attemptKey struct{ effects *Effects }

// Retry calls call. If the agent responds that authentication is required, and no prompt of call
// has had an effect, Retry calls signIn with that error, and then call again. If signIn is nil, it calls only.
func (e *Effects) Retry(ctx context.Context, signIn, only func(ctx context.Context, required error) error, call func(context.Context) error) error {
	if call == nil {
		return errors.New("client: SignInAndRetry was given a nil call: pass a function that makes the call")
	}
	if signIn == nil {
		signIn = only
	}
	first := new(attempt)
	err := call(context.WithValue(ctx, attemptKey{e}, first))
	if !errors.Is(err, rpcerr.ErrAuthRequired) || first.effect.Load() {
		return err
	}
	if err := signIn(ctx, err); err != nil {
		return err
	}
	return call(ctx)
}

// Begin watches a prompt if ctx belongs to an attempt. The caller must call end when the prompt has
// ended.
func (e *Effects) Begin(ctx context.Context, id string) (end func()) {
	a, ok := ctx.Value(attemptKey{e}).(*attempt)
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

// Had records that a prompt with the ctx of an attempt has had an effect: its message is part of
// the conversation.
func (e *Effects) Had(ctx context.Context) {
	if a, ok := ctx.Value(attemptKey{e}).(*attempt); ok {
		a.effect.Store(true)
	}
}

// note records that the agent has sent a message with these params.
func (e *Effects) note(params any) {
	id, known := e.SessionOf(params)
	e.mu.Lock()
	defer e.mu.Unlock()
	for w := range e.watched {
		if !known || w.id == id {
			w.attempt.effect.Store(true)
		}
	}
}

// Watch changes cfg so that e sees every request and every update, including those that a
// middleware does not pass on and those that are refused or dropped. The session of a refused or
// dropped message is not known.
func (e *Effects) Watch(cfg *rpc.Config) {
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
			if e.open.Load() > 0 {
				e.note(params)
			}
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
