package rpc

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/rpc/order"
)

// scope is the ctx of one handler. It has the message that is being handled and the handlers that
// it descends from. It makes a context with a cancel function only when needed, because most
// handlers of notifications do not need one.
type scope struct {
	order.Scope // the handled message; its size is that of the raw message at first, and then that of the decoded one

	parent context.Context // the life of the connection
	conn   *Conn
	req    *request // nil: a notification is handled
	work   *Work    // the work whose ctx it is, nil: a handler's
	odd    any      // see codec.decodeParams; set before the handler runs

	// up is the handler that this one descends from: the notification handler during which a
	// request was started, or else the handler whose ctx started the connection. It is set
	// before the handler runs.
	up *scope

	life atomic.Pointer[lifetime] // nil: no context was needed yet, and it has not ended
}

// lifetime is the state of a scope. It does not change.
type lifetime struct {
	ctx    context.Context // does the work; nil when the scope ended before one was needed
	cancel context.CancelCauseFunc
	cause  error // why the scope has ended; set if ctx is nil
}

// errReturned is the cause of the ctx of a handler that has returned, and returned the lifetime of
// most notification handlers.
var (
	errReturned = context.Canceled
	returned    = &lifetime{cause: errReturned}
)

type scopeKey struct{}

// scopeOf returns the innermost handler that ctx descends from, or nil.
func scopeOf(ctx context.Context) *scope {
	s, ok := ctx.(*scope)
	if !ok {
		s, _ = ctx.Value(scopeKey{}).(*scope)
	}
	return s
}

// real returns the context that can be cancelled, and makes it at the first call.
func (s *scope) real() context.Context {
	for {
		was := s.life.Load()
		if was != nil && was.ctx != nil {
			return was.ctx
		}
		ctx, cancel := context.WithCancelCause(s.parent)
		if was != nil {
			cancel(was.cause)
		}
		if s.life.CompareAndSwap(was, &lifetime{ctx: ctx, cancel: cancel}) {
			return ctx
		}
		cancel(nil) // another goroutine has made it first
	}
}

// now returns the context that has the state of the scope: the parent until the scope has ended
// or needs one of its own.
func (s *scope) now() context.Context {
	if s.life.Load() == nil {
		return s.parent
	}
	return s.real()
}

// end ends the ctx. Only the first cause counts.
func (s *scope) end(cause error) {
	over := returned
	if cause != errReturned {
		over = &lifetime{cause: cause}
	}
	if s.life.CompareAndSwap(nil, over) {
		return
	}
	if life := s.life.Load(); life.ctx != nil {
		life.cancel(cause)
	}
}

// Deadline implements context.Context.
func (s *scope) Deadline() (time.Time, bool) { return s.parent.Deadline() }

// Done implements context.Context.
func (s *scope) Done() <-chan struct{} { return s.real().Done() }

// Err implements context.Context.
func (s *scope) Err() error { return s.now().Err() }

// Value implements context.Context. Package context finds its own key in the parent, so that
// deriving from a scope needs no goroutine.
func (s *scope) Value(key any) any {
	switch key.(type) {
	case scopeKey, reserve.Key:
		return s
	}
	return s.now().Value(key)
}

// ReserveResult implements reserve.Reserver. A handler that has to wait needs no slot
// meanwhile.
func (s *scope) ReserveResult(ctx context.Context, size int64) error {
	r, c := s.req, s.conn
	if r == nil || c.results.TryReserve(&r.result, size, s.insideNotification()) {
		return nil
	}
	c.order.Enter(r)
	defer c.order.Leave(r)
	return c.sooner(ctx, c.results.Reserve(ctx, s.Done(), &r.result, size))
}

// insideNotification reports whether a notification handler may wait for this handler.
func (s *scope) insideNotification() bool {
	for s = s.up; s != nil; s = s.up {
		if s.req == nil {
			return true
		}
	}
	return false
}

// origin describes the handler that makes a call, according to the ctx of the call.
type origin struct {
	// exempt: a notification handler waits for the call.
	exempt bool
	// negotiates: the handshake of the connection waits for the call, or the call is the handshake.
	negotiates bool
	// relays is the request whose handler makes the call, if it is that of a relay: its response
	// is likely to be the result of the call.
	relays *request
}

// enter records that a method of c begins to wait with a ctx of this handler. Every handler that
// this one descends from waits too. A call waits for the peer's response, and the peer may need
// anything of this end for it. A send waits only until the peer reads, so the handler keeps its
// slot. A send over another connection, as in a proxy, counts as work: a slow peer there slows down
// the peer here, and the messages that were sent here keep their order.
func (s *scope) enter(c *Conn, call bool) (o origin) {
	if s != nil && s.req != nil && s.conn != c && s.conn.cfg.Relay {
		o.relays = s.req
	}
	for ; s != nil; s = s.up {
		switch {
		case s.req == nil:
			o.exempt = true
			if call || s.conn == c {
				s.conn.order.Enter(s)
			}
		case call:
			o.negotiates = o.negotiates || s.conn == c && s.req.Opens()
			s.conn.order.Enter(s.req)
			s.conn.results.Release(&s.req.result)
		}
	}
	return o
}

// leave undoes enter.
func (s *scope) leave(c *Conn, call bool) {
	for ; s != nil; s = s.up {
		switch {
		case s.req == nil && (call || s.conn == c):
			s.conn.order.Leave(s)
		case s.req != nil && call:
			s.conn.order.Leave(s.req)
		}
	}
}

// MessageSize returns the bytes of memory that the message which is being handled
// occupies, and 0 outside a handler.
func MessageSize(ctx context.Context) int64 {
	if s := scopeOf(ctx); s != nil {
		return s.Size
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
	return json.RawMessage(s.req.ID), true
}

// Detach returns a ctx for work that continues when the handler has returned. It keeps the values
// of ctx and its place in the order: calls made with it still count as made by the handler. It ends
// when the connection does. Outside a handler it returns ctx.
func Detach(ctx context.Context) context.Context {
	s := scopeOf(ctx)
	if s == nil {
		return ctx
	}
	return &detached{Context: s.parent, values: context.WithoutCancel(ctx)}
}

// detached ends with its Context and has the values of another ctx.
type detached struct {
	context.Context
	values context.Context
	scope  *scope // nil: that of values
}

// Value implements context.Context.
func (d *detached) Value(key any) any {
	if _, ok := key.(scopeKey); ok && d.scope != nil {
		return d.scope
	}
	if v := d.values.Value(key); v != nil {
		return v
	}
	return d.Context.Value(key)
}
