package rpc

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// scope is the ctx of one handler. It knows what is being handled and whose
// handlers it descends from, and it makes a context with a cancel function of its
// own only when somebody asks for one, because most notification handlers never
// do.
type scope struct {
	parent context.Context // the life of the connection
	conn   *Conn
	method string
	size   int64    // bytes of the message
	req    *request // nil: a notification is handled

	// up is the handler that this one descends from: the notification handler
	// under whose exception a request was started, else the handler whose ctx
	// started the connection. It is set before the handler runs.
	up *scope

	// entered hears of the first use of the ctx; nil when nobody asks.
	entered *entered

	// inside counts the Conn methods that run with this ctx or one that descends
	// from it: calls of any connection, and sends of this one. Guarded by
	// conn.in.mu.
	inside int

	mu     sync.Mutex // guards all below
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  bool
	cause  error
}

type scopeKey struct{}

// scopeOf returns the innermost handler that ctx descends from, or nil.
func scopeOf(ctx context.Context) *scope {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	return s
}

// real returns the context that does the work, and makes it at the first call.
func (s *scope) real() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancelCause(s.parent)
		if s.ended {
			s.cancel(s.cause)
		}
	}
	return s.ctx
}

// peek returns the context that does the work, or nil when nothing was asked of
// it yet and it has not ended.
func (s *scope) peek() context.Context {
	s.mu.Lock()
	ctx, ended := s.ctx, s.ended
	s.mu.Unlock()
	if ctx == nil && ended {
		return s.real()
	}
	return ctx
}

// end ends the ctx; the first cause stays.
func (s *scope) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended, s.cause = true, cause
	if s.cancel != nil {
		s.cancel(cause)
	}
}

// Deadline implements context.Context.
func (s *scope) Deadline() (time.Time, bool) { return s.parent.Deadline() }

// Done implements context.Context.
func (s *scope) Done() <-chan struct{} {
	s.entered.use()
	return s.real().Done()
}

// Err implements context.Context.
func (s *scope) Err() error {
	s.entered.use()
	if ctx := s.peek(); ctx != nil {
		return ctx.Err()
	}
	return s.parent.Err()
}

// Value implements context.Context. What it hands through lets package context
// find its own, so that deriving from a scope needs no goroutine.
func (s *scope) Value(key any) any {
	s.entered.use()
	if _, ok := key.(scopeKey); ok {
		return s
	}
	if ctx := s.peek(); ctx != nil {
		return ctx.Value(key)
	}
	return s.parent.Value(key)
}

// origin is what a Conn method learns from the ctx it was given.
type origin struct {
	// exempt: a notification handler waits for the method.
	exempt bool
	// forwards: the ctx is that of another connection's handler, so what is sent
	// is likely to have arrived there.
	forwards bool
}

// enter notes that a method of c begins with a ctx of this handler: everybody up
// the chain waits for it. A call waits for the peer's answer, which may need
// anything of this end. A send waits for nothing but the peer's reading, so it keeps
// the handler's slot. When it is over another connection than the handler's, as in a
// proxy, it is work like any other: the one that is too slow there slows down the one
// that sends here, and what was sent here behind it stays behind it.
func (s *scope) enter(c *Conn, call bool) (o origin) {
	for ; s != nil; s = s.up {
		if s.conn != c {
			o.forwards = true
		}
		if s.req == nil {
			o.exempt = true
			if call || s.conn == c {
				s.conn.noteEnters(s)
			}
			continue
		}
		if s.conn != c {
			s.req.forwards.Store(true)
		}
		if s.req.counted && call {
			s.conn.handlerEnters(s)
		}
	}
	return o
}

// leave undoes enter.
func (s *scope) leave(c *Conn, call bool) {
	for ; s != nil; s = s.up {
		switch {
		case s.req == nil && (call || s.conn == c):
			s.conn.noteLeaves(s)
		case s.req != nil && s.req.counted && call:
			s.conn.handlerLeaves(s)
		}
	}
}

// MessageSize returns the bytes of the message that is being handled, and 0
// outside a handler.
func MessageSize(ctx context.Context) int64 {
	if s := scopeOf(ctx); s != nil {
		return s.size
	}
	return 0
}

// RequestID returns the id of the request that is being handled, as the peer
// wrote it.
func RequestID(ctx context.Context) (json.RawMessage, bool) {
	s := scopeOf(ctx)
	if s == nil || s.req == nil {
		return nil, false
	}
	return json.RawMessage(s.req.id), true
}

// Detach returns a ctx for work that goes on when the handler has returned. It
// keeps the values of ctx and its place in the order: calls made with it still
// count as made by the handler. It ends when the connection does. Outside a
// handler it returns ctx.
func Detach(ctx context.Context) context.Context {
	s := scopeOf(ctx)
	if s == nil {
		return ctx
	}
	return &detached{Context: s.parent, values: context.WithoutCancel(ctx)}
}

// detached ends with its Context and has the values of another one.
type detached struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (d *detached) Value(key any) any {
	if v := d.values.Value(key); v != nil {
		return v
	}
	return d.Context.Value(key)
}
