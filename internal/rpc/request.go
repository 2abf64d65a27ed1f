package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/stream"
)

// request is one request of the peer. The reader makes it, and package order decides when Serve
// runs its handler. Serve responds to it whatever the handler does. Its ctx ends with
// $/cancel_request, with a message that ends its group, with the connection, and with its response.
type request struct {
	scope // the handler's ctx
	order.Request

	entry  *Entry // nil for an extension
	params []byte

	result reserve.Claim // what the handler has reserved

	writes bool // the goroutine becomes the writer when it is done; only it uses the field

	mu        sync.Mutex // guards all below
	afterDone bool
	more      *more // nil until it is needed
}

// more holds what most requests never need, so that a request in flight takes less memory.
type more struct {
	after   []func() // see AfterResponse
	results []any    // see keep
}

// moreLocked returns r.more. The first call makes it.
func (r *request) moreLocked() *more {
	if r.more == nil {
		r.more = new(more)
	}
	return r.more
}

// End ends the ctx of the handler, with the lock of the order held. It implements [order.Handler].
func (r *request) End(by order.Ended) {
	if by == order.ByGroup {
		r.end(errGroupEnded)
	} else {
		r.end(errCancelled)
	}
}

// Serve decodes, calls the handler and responds. It implements [order.Handler].
func (r *request) Serve(under order.Scoped) {
	if s, ok := under.(*scope); ok {
		r.up = s
	}
	// Deferred, because a handler may end its goroutine with runtime.Goexit.
	defer r.write()
	defer r.Advance(order.Over)
	defer r.runAfter()
	res, err := any(nil), errExited
	defer func() {
		defer r.end(errReturned) // respond may not return
		r.Called()
		result := res
		res = nil // it is freed when it is encoded
		r.respond(result, err)
	}()
	c := r.conn
	var params any
	var raw []byte // the raw params, if the handler may ask for them
	if c.cfg.RawParams {
		raw = r.params
	}
	if err = safely(func() (err error) { params, err = c.handlers.requestParams(r); return err }); err != nil {
		return
	}
	err = errExited
	if r.Ends != nil {
		r.Ends.AwaitCalled(r.parent.Done()) // ends with the connection
	}
	err = c.handlers.invoke(&r.scope, r.entry, params, raw, &res)
}

// respond encodes what the handler returned and queues it. If it cannot be encoded, the response
// is an internal error. Until it is queued, the request counts against the limits as if its
// handler ran.
func (r *request) respond(res any, err error) {
	ended := r.Advance(order.Returned)
	f := outbox.NewFrame()
	encoded, ok := false, false
	// Deferred, because an encoding method may end its goroutine with runtime.Goexit.
	defer func() {
		if !encoded {
			r.conn.handlers.appendResponse(f, r, nil, errExited, ended)
		}
		res = nil // while the frame waits, the result need not stay in memory
		r.queue(f.Fit(), ok)
	}()
	ok = r.conn.handlers.appendResponse(f, r, res, err, ended)
	encoded = true
}

func (r *request) queue(f *outbox.Frame, ok bool) {
	c := r.conn
	f.Request, f.About = r.ID, r.Method
	// A decoded result takes about as much memory as its encoding.
	f.Result = c.results.Count(&r.result, int64(len(f.Data)), int64(cap(f.Data)))
	if c.network {
		m := stream.Message{Kind: stream.KindErrorResponse, ID: json.RawMessage(r.ID)}
		if ok {
			m.Kind = stream.KindResponse
		}
		c.describe(f, m, lenHead(r.ID))
	}
	duty := outbox.Dropped
	err := r.reserve(f)
	r.Advance(order.Responded) // before the peer can read the response and use the id again
	if err == nil {
		f.Crowd = r.Others >= fewCalls
		duty = c.out.Push(f)
	}
	r.writes = duty == outbox.Begin
	r.Advance(order.Queued)
	if duty == outbox.Dropped {
		c.log.Debug("acp: a response came too late", "method", shown(r.Method))
	}
	if r.Opens() {
		if r.writes { // the functions may take long
			r.writes = false
			c.out.Start()
		}
		c.refuse(c.order.Open(ok))
	}
}

func (r *request) reserve(f *outbox.Frame) error {
	c := r.conn
	if c.out.TryReserve(f) {
		return nil
	}
	defer r.Stall(int64(len(f.Data)))()
	return c.out.Reserve(context.Background(), f) // ends with the connection
}

// write makes the goroutine of the request the writer until the queue is empty. No one waits for
// the goroutine, so it may block.
func (r *request) write() {
	if r.writes {
		r.conn.out.Write()
	}
}

// AfterResponse registers f to run after the response to the request that is being
// handled has been queued for sending, or could not be. Several run in the order
// of registration, on the handler's goroutine. It returns false, and f never
// runs, when ctx is not that of a request handler or its response has left already.
func AfterResponse(ctx context.Context, f func()) bool {
	s := scopeOf(ctx)
	if s == nil || s.req == nil || f == nil {
		return false
	}
	r := s.req
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.afterDone {
		return false
	}
	k := r.moreLocked()
	k.after = append(k.after, f)
	return true
}

// runAfter runs what AfterResponse registered.
func (r *request) runAfter() {
	for {
		r.mu.Lock()
		if r.more == nil || len(r.more.after) == 0 {
			r.afterDone = true
			r.mu.Unlock()
			return
		}
		f := r.more.after[0]
		r.more.after = r.more.after[1:]
		r.mu.Unlock()
		if r.writes { // the response must be written before f runs
			r.writes = false
			r.conn.out.Start()
		}
		protect(r.conn.log, "AfterResponse", f)
	}
}

var errExited = errors.New("the handler ended its goroutine")
