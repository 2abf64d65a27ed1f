package rpc

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/internal/rpc/order"
)

// Work is work that continues after the response to the request that began it, such as a turn whose
// prompt is responded to when it is accepted. Until it ends it counts against MaxOpen, Shutdown and
// the end of input wait for it, and Wait names the request's method if it does not end. It is safe
// for concurrent use.
type Work struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	order  order.Work
}

// Outlive begins work of the request whose handler was given ctx. The work belongs to the
// group of the request. A message that ends the group ends the ctx of the work; background
// work only if that message ends all of the group. It is an error if ctx is not that of a
// handler that runs, or of work that goes on.
func Outlive(ctx context.Context, background bool) (*Work, error) {
	s := scopeOf(ctx)
	if s == nil || s.req == nil {
		return nil, errors.New("acp: ctx is not that of a request handler: pass on the one that the handler was given")
	}
	c := s.conn
	life, cancel := context.WithCancelCause(c.life)
	w := &Work{cancel: cancel}
	w.order = order.Work{Method: s.Method, Of: &s.req.Request, Background: background, End: func() { cancel(errGroupEnded) }}
	if s.work != nil {
		w.order.By = &s.work.order
	}
	own := &scope{parent: life, conn: c, req: s.req, work: w, odd: s.odd, up: c.up}
	own.Method, own.Size = s.Method, s.Size
	w.ctx = &detached{Context: life, values: context.WithoutCancel(ctx), scope: own} // the handler may have returned
	if !c.order.Begin(&w.order) {
		cancel(context.Canceled)
		return nil, errors.New("acp: the handler has returned, or the work has ended: begin work before that")
	}
	return w, nil
}

// InBackground reports whether ctx is that of background work.
func InBackground(ctx context.Context) bool {
	s := scopeOf(ctx)
	return s != nil && s.work != nil && s.work.order.Background
}

// AwaitEarlier waits until every request that was read before this one and belongs to the same
// group has been responded to: its response is in the outgoing queue. A handler that calls it
// keeps the order in which the requests were read, in its messages and in its response. It
// returns the error of ctx if that is done first.
func AwaitEarlier(ctx context.Context) error {
	s := scopeOf(ctx)
	if s == nil || s.req == nil {
		return nil
	}
	for { // the nearest one may be responded to before the earlier ones
		earlier := s.req.Earlier()
		if earlier == nil {
			return nil
		}
		select {
		case <-earlier:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ahead returns the number of requests and works of its group that a request must wait for:
// requests that were read earlier and not responded to, and those whose work has not been settled
// and is not in the background.
func Ahead(ctx context.Context) int {
	s := scopeOf(ctx)
	if s == nil || s.req == nil {
		return 0
	}
	return s.req.Ahead()
}

// Waits records that the handler with the ctx waits for other handlers or for work, until done is
// called. Meanwhile it needs no slot, and if it is the handler of a relay, no messages wait for it.
func Waits(ctx context.Context) (done func()) {
	s := scopeOf(ctx)
	if s == nil {
		return func() {}
	}
	s.enter(s.conn, true)
	return func() { s.leave(s.conn, true) }
}

// EndAgain ends a group again, for members that have joined it since the ending request was read.
// ctx must be that of the handler of this request.
func EndAgain(ctx context.Context) {
	if s := scopeOf(ctx); s != nil && s.req != nil {
		s.req.EndAgain()
	}
}

// Context returns the ctx of the work. It has the values of the handler's ctx, ends with
// the work, the group and the connection, and is to be used for all that the work sends.
func (w *Work) Context() context.Context { return w.ctx }

// End reports that the work is over. Calls after the first do nothing.
func (w *Work) End() {
	w.order.Over()
	w.cancel(context.Canceled)
}

// Settle is called before the peer learns that the work is over, so that requests which the peer
// then sends do not wait for it.
func (w *Work) Settle() { w.order.Settle() }

// Linger records work that a handler began and that may continue after the handler has returned.
// Shutdown and Wait wait for it as for the handler, and ErrHandlerStuck names it by the handler's
// method. The caller must call done when the work has ended. Outside a handler Linger does nothing.
func Linger(ctx context.Context) (done func()) {
	s := scopeOf(ctx)
	if s == nil {
		return func() {}
	}
	w := &order.Work{Method: s.Method}
	s.conn.order.Begin(w)
	return w.Over
}
