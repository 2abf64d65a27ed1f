package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// CallOptions change how one call ends. Nil means the defaults.
type CallOptions struct {
	// OnCtxDone is called once when ctx ends before the response is there, in place
	// of sending $/cancel_request. The call then waits up to Grace for the response;
	// without OnCtxDone, it does so if Grace is positive.
	OnCtxDone func()
	Grace     time.Duration

	// Negotiates means that the call is a handshake: messages that are read before its response
	// wait for the response. A peer that calls this end and waits before it responds is in a
	// deadlock.
	Negotiates bool

	// Sent runs when the request is queued for sending: everything that is sent from then on
	// follows it. It does not run for a request that could not be sent, and runs again if a
	// middleware repeats the call. It must not block.
	Sent func()

	// Cancellable runs before Sent, with a function that sends $/cancel_request for the request.
	// The call continues, and the response reports the outcome. The function does not block and is
	// safe for concurrent use. It does nothing when it is called again or when the call has ended.
	Cancellable func(cancel func())

	// Vacant returns the result for the responses null and {}, if the result type does not allow
	// them. A warning is logged. If it is nil, such a response is an error.
	Vacant func() any

	// Result runs with the result of a call that succeeds, before AtResponse and before
	// the call returns: at the place of the response, or when the response is read if
	// the call is exempt from waiting for the notifications. It runs again when a
	// middleware tries again. It must not block.
	Result func(any)

	// AtResponse runs exactly once, also when the call fails. For a response it runs at the place
	// of the response in the order: after the notifications that were read before it, and before
	// those that were read after it. It must not block. It has run before the call returns, except
	// when the call's ctx ended or when the call is exempt from waiting for the notifications.
	AtResponse func(err error)
}

var noOptions CallOptions

// Call calls the peer. params is a pointer to the method's params type, the
// result one to its result type.
func (c *Conn) Call(ctx context.Context, m *wire.Method, params any, opts *CallOptions) (any, error) {
	return c.callThrough(ctx, &call{method: m.Name, m: m}, params, opts)
}

// CallExtension calls a method that the protocol does not define. params is a
// json.RawMessage or anything encoding/json takes; nil leaves params out.
func (c *Conn) CallExtension(ctx context.Context, method string, params any) (json.RawMessage, error) {
	res, err := c.callThrough(ctx, &call{method: method}, params, nil)
	if err != nil {
		return nil, err
	}
	return encodeRaw(res)
}

// callThrough runs the sending middlewares around the call.
func (c *Conn) callThrough(ctx context.Context, k *call, params any, opts *CallOptions) (res any, err error) {
	if opts == nil {
		opts = &noOptions
	}
	if err := c.wrong(); err != nil {
		if opts.AtResponse != nil {
			opts.AtResponse(err)
		}
		return nil, err
	}
	s := scopeOf(ctx)
	k.origin = s.enter(c, true)
	defer s.leave(c, true)
	if k.m == nil {
		if params, err = c.handlers.rawParams(k.method, params); err != nil {
			return nil, err
		}
	}
	if opts.Negotiates {
		opts, k.negotiates = c.hold(opts), true
	}
	k.at, k.took, k.vacant = opts.AtResponse, opts.Result, opts.Vacant
	ctx, k.raw = TakeRawResult(ctx)
	if c.send == nil {
		res, err = c.call(ctx, k, params, opts)
		s.keep(k.m, res)
		return res, err
	}
	var once sync.Once
	err = errExited
	if k.at != nil {
		// A middleware may repeat the call or return a result of its own, so only the final result
		// counts.
		k.at = func(err error) {
			if err == nil {
				once.Do(func() { opts.AtResponse(nil) })
			}
		}
		// Deferred, because a middleware may end its goroutine with runtime.Goexit.
		defer func() { once.Do(func() { opts.AtResponse(err) }) }()
	}
	res, err = c.sendThrough(ctx, &outgoing{call: k, opts: opts}, k.method, params)
	s.keep(k.m, res)
	return res, err
}

// call is one attempt to call the peer.
func (c *Conn) call(ctx context.Context, k *call, params any, opts *CallOptions) (any, error) {
	k.settled = make(chan struct{})
	if err := c.dispatch(ctx, k, params); err != nil {
		return nil, c.calls.withdraw(k, err)
	}
	if opts.Cancellable != nil {
		opts.Cancellable(func() { c.sendCancel(k) })
	}
	if opts.Sent != nil {
		opts.Sent()
	}
	return c.await(ctx, k, opts)
}

// dispatch queues the request. If it returns an error, nothing was sent.
func (c *Conn) dispatch(ctx context.Context, k *call, params any) error {
	if err := c.usable(); err != nil {
		return err
	}
	if c.shutting.Load() && scopeOf(ctx) == nil {
		return cmp.Or(c.Err(), closed(errShutdown))
	}
	if err := c.calls.add(k, false); err != nil {
		return err
	}
	f := outbox.NewFrame()
	f.About = k.method
	f.Data = appendCall(f.Data, k.id, k.method)
	head := len(f.Data)
	err := c.handlers.encodeParams(f, k.m, k.method, params, !arrived(ctx, params))
	if err == nil {
		err = ctx.Err()
	}
	f = f.Fit()
	f.Call = k.id
	if err == nil && c.network {
		c.describe(f, stream.Message{Kind: stream.KindRequest, ID: strconv.AppendUint(nil, k.id, 10), Method: k.method}, head)
		err = c.calls.join(k, f.SessionID, c.cfg.Reopens(k.method))
	}
	if err == nil {
		err = c.out.Reserve(ctx, f)
	}
	if err != nil {
		f.Free()
		return c.sooner(ctx, err)
	}
	f.Crowd = c.calls.begin(k)
	switch c.out.Push(f) {
	case outbox.Begin:
		c.out.StartLater() // the caller is about to wait for the response
	case outbox.Dropped: // closed meanwhile
		return closed(c.end.cause())
	}
	return nil
}

// await waits for the response, or for the end of ctx.
func (c *Conn) await(ctx context.Context, k *call, opts *CallOptions) (any, error) {
	if k.wait(ctx) {
		return c.calls.outcome(k)
	}
	told := opts.OnCtxDone != nil || opts.Grace > 0
	if told {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Grace)
		defer cancel()
		if opts.OnCtxDone != nil {
			opts.OnCtxDone()
		} else {
			c.sendCancel(k)
		}
		if k.wait(grace) {
			return c.calls.outcome(k)
		}
	}
	err := c.sooner(ctx, ctx.Err())
	abandoned, inFlight := c.calls.abandon(k, err)
	if !abandoned {
		return c.calls.outcome(k)
	}
	if inFlight && !told && !k.cancelled {
		c.out.Cancel(k.id)
	}
	return nil, err
}

// sendCancel sends $/cancel_request for a call, once, and not after its end.
func (c *Conn) sendCancel(k *call) {
	if c.calls.cancel(k) {
		c.out.Cancel(k.id)
	}
}

// wait reports whether the call was settled before ctx ended.
func (k *call) wait(ctx context.Context) bool {
	select {
	case <-k.settled:
		return true
	case <-ctx.Done():
		return isClosed(k.settled) // both may have happened
	}
}

// CtxError returns why ctx has ended: its error, or that of the connection if it ended with the
// connection.
func (c *Conn) CtxError(ctx context.Context) error {
	if !c.started.Load() {
		return ctx.Err()
	}
	return c.sooner(ctx, ctx.Err())
}

// sooner returns err, or the error of the connection if err is the end of a ctx that has ended
// with the connection.
func (c *Conn) sooner(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	switch {
	case c.life.Err() != nil:
		return closed(context.Cause(c.life))
	case c.outer.Err() != nil: // the connection is about to end
		return closed(panics.Sound(context.Cause(c.outer)))
	}
	return err
}

// Expectation is something that the peer still has to send after its response to a call, such as
// the end of the work that the call began. It is like a call in flight: Shutdown waits for it, and
// the end of the connection or the loss of the session fails it.
type Expectation struct {
	calls *calls
	call  *call
}

// Expect begins an expectation for a call of m in a session. failed runs once if the peer
// can no longer meet it: after the notifications that were read before have been handled, or
// dropped. It must not block.
func (c *Conn) Expect(m *wire.Method, session string, failed func(error)) (*Expectation, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	k := &call{method: m.Name, m: m, at: failed}
	if err := c.calls.add(k, true); err != nil {
		return nil, err
	}
	e := &Expectation{&c.calls, k}
	if c.network {
		if err := c.calls.join(k, session, false); err != nil {
			e.Met()
			return nil, err
		}
	}
	return e, nil
}

// Met ends the expectation. It reports whether it was still open: if it was not, failed has
// run or will run.
func (e *Expectation) Met() bool {
	t, k := e.calls, e.call
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.state != callPending {
		return false
	}
	t.dropLocked(k, nil)
	return true
}
