package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// scope is the ctx of one handler. It knows what is being handled and from whose
// handlers it descends. It makes a context with a cancel function of its own only when
// one is asked for, because most notification handlers never do.
type scope struct {
	parent context.Context // the life of the connection
	conn   *Conn
	method string
	size   int64    // memory of the message: raw, then decoded
	req    *request // nil: a notification is handled
	work   *Work    // the work whose ctx it is, nil: a handler's
	params any      // a pointer to what was decoded, nil for an extension; set before the handler runs

	// up is the handler that this one descends from: the notification handler
	// under whose exception a request was started, else the handler whose ctx
	// started the connection. It is set before the handler runs.
	up *scope

	// entered hears of the first use of the ctx; nil when no one asks.
	entered *entered

	// inside counts the Conn methods that wait with this ctx or one that descends
	// from it. It belongs to conn.in and is guarded by its lock.
	inside int

	mu      sync.Mutex // guards all below
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ended   bool
	cause   error
	results *results // nil before the first result that is kept
}

// results are those of the latest calls that a request's handler made, of the type that it
// returns itself: it may return one of them unchecked. Others are not kept, because a
// handler may run for hours and read large files.
type results struct {
	of    [4]any
	calls int
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

// origin is what a call learns from the ctx it was given.
type origin struct {
	// exempt: a notification handler waits for the call.
	exempt bool
	// relays is the request of another connection whose handler makes the call: its
	// response is likely to be the result of the call.
	relays *request
}

// enter notes that a method of c begins to wait with a ctx of this handler: every
// handler up the chain waits for it. A call waits for the peer's response, which may
// need anything of this end. A send that finds no room waits for nothing but the peer's
// reading, so it keeps the handler's slot. When it is over another connection than the
// handler's, as in a proxy, it is work like any other: the peer that is too slow there
// slows down the peer that sends here, and what was sent here stays in its order.
func (s *scope) enter(c *Conn, call bool) (o origin) {
	if s != nil && s.req != nil && s.conn != c {
		o.relays = s.req
	}
	for ; s != nil; s = s.up {
		switch {
		case s.req == nil:
			o.exempt = true
			if call || s.conn == c {
				s.conn.in.notificationEnters(s)
			}
		case call:
			s.conn.in.requestEnters(s.req)
		}
	}
	return o
}

// leave undoes enter.
func (s *scope) leave(c *Conn, call bool) {
	for ; s != nil; s = s.up {
		switch {
		case s.req == nil && (call || s.conn == c):
			s.conn.in.notificationLeaves(s)
		case s.req != nil && call:
			s.conn.in.requestLeaves(s.req)
		}
	}
}

// keep remembers the result of a call of m that was made with the handler's ctx, if the
// handler could return it.
func (s *scope) keep(m *wire.Method, result any) {
	if s == nil || s.req == nil || s.req.entry == nil || s.req.entry.Result != m.Result || result == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results == nil {
		s.results = new(results)
	}
	r := s.results
	r.of[r.calls%len(r.of)] = result
	r.calls++
}

// brought reports whether v is the result of a call that keep remembers.
func (s *scope) brought(v any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results != nil && slices.Contains(s.results.of[:], v)
}

// arrived reports whether the value, a pointer, is what a handler that ctx descends
// from was given: it is then passed on, and not this program's own.
func arrived(ctx context.Context, v any) bool {
	for s := scopeOf(ctx); s != nil; s = s.up {
		if s.params != nil && s.params == v {
			return true
		}
	}
	return false
}

// MessageSize returns the bytes of memory that the message which is being handled
// occupies, and 0 outside a handler.
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
