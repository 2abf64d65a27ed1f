package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/wire"
)

// CallOptions change how one call ends. Nil means the defaults.
type CallOptions struct {
	// OnCtxDone is called once when ctx ends before the answer is there, in place
	// of sending $/cancel_request. The call then waits up to Grace for the answer.
	OnCtxDone func()
	Grace     time.Duration

	// Sent runs when the request is queued for sending: what is sent from then on is
	// behind it. It does not run for one that could not be sent, and runs again when a
	// middleware tries again. It must not block.
	Sent func()

	// AtResponse runs exactly once, also when the call fails. For an answer it runs
	// at the answer's place in the order: after the notifications that were read
	// before it and before those behind it. It must not block. It has run before
	// the call returns, except when the call's ctx ended or when the call is exempt
	// from waiting for the notifications.
	AtResponse func(err error)
}

var noOptions CallOptions

// callState says how far a call has come.
type callState uint8

const (
	callPending    callState = iota // no answer yet
	callAnswered                    // the answer was read and waits for its place
	callDelivering                  // AtResponse is running
	callSettled                     // the caller may go on
)

// call is one request of ours.
type call struct {
	id     uint64
	method string
	m      *wire.Method // nil for an extension
	origin              // when exempt it does not wait for notifications

	settled chan struct{} // closed when the caller may go on; nil when nobody waits

	// Guarded by callTable.mu until the call is settled, and not changed after.
	at            func(error) // AtResponse; who runs it takes it out
	state         callState
	dispatched    bool   // the library knows the call
	lifting       bool   // lifts the back-pressure while it is pending
	result, fault []byte // what the answer holds
	err           error  // how it ended without a usable answer

	// Set by deliver, when AtResponse needed to know the outcome.
	decoded  bool
	value    any
	valueErr error
}

// callTable holds the calls that wait for their answer.
type callTable struct {
	mu      sync.Mutex // guards all below, and the calls as said there
	pending map[uint64]*call
	most    int             // how many there were at once
	last    uint64          // id of the latest call; the first has 1
	closed  error           // new calls fail with it
	none    []chan struct{} // closed when pending is empty
}

// add gives the call its id and makes it wait.
func (t *callTable) add(k *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return t.closed
	}
	t.last++
	k.id = t.last
	t.pending[k.id] = k
	t.most = max(t.most, len(t.pending))
	return nil
}

// issued tells whether a call with this id was ever made.
func (t *callTable) issued(id uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return 0 < id && id <= t.last
}

// removeLocked takes a call out of those that wait for their answer.
func (t *callTable) removeLocked(k *call) {
	delete(t.pending, k.id)
	if len(t.pending) == 0 {
		if t.most > keptMap {
			t.pending, t.most = make(map[uint64]*call), 0
		}
		for _, ch := range t.none {
			close(ch)
		}
		t.none = nil
	}
}

// over returns a channel that is closed when no call waits for its answer.
func (t *callTable) over() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ch := make(chan struct{})
	if len(t.pending) == 0 {
		close(ch)
	} else {
		t.none = append(t.none, ch)
	}
	return ch
}

// Call calls the peer. params is a pointer to the method's params type, the
// result one to its result type.
func (c *Conn) Call(ctx context.Context, m *wire.Method, params any, opts *CallOptions) (any, error) {
	s := scopeOf(ctx)
	o := s.enter(c, true)
	defer s.leave(c, true)
	return c.callThrough(ctx, &call{method: m.Name, m: m, origin: o}, params, opts)
}

// CallExtension calls a method that the protocol does not define. params is a
// json.RawMessage or anything encoding/json takes; nil leaves params out.
func (c *Conn) CallExtension(ctx context.Context, method string, params any) (json.RawMessage, error) {
	s := scopeOf(ctx)
	o := s.enter(c, true)
	defer s.leave(c, true)
	raw, err := c.rawParams(method, params)
	if err != nil {
		return nil, err
	}
	res, err := c.callThrough(ctx, &call{method: method, origin: o}, raw, nil)
	if err != nil {
		return nil, err
	}
	return encodeRaw(res)
}

// callThrough runs the sending middlewares around the call.
func (c *Conn) callThrough(ctx context.Context, k *call, params any, opts *CallOptions) (any, error) {
	if opts == nil {
		opts = &noOptions
	}
	k.at = opts.AtResponse
	if c.send == nil {
		return c.call(ctx, k, params, opts)
	}
	var once sync.Once
	err := errExited
	if k.at != nil {
		// A middleware may try again or answer by itself, so a failure counts only
		// when it is the last word.
		k.at = func(err error) {
			if err == nil {
				once.Do(func() { opts.AtResponse(nil) })
			}
		}
		// Deferred, because a middleware may end its goroutine with runtime.Goexit.
		defer func() { once.Do(func() { opts.AtResponse(err) }) }()
	}
	var res any
	res, err = c.sendThrough(ctx, &outgoing{call: k, opts: opts}, k.method, params)
	return res, err
}

// call is one attempt to call the peer.
func (c *Conn) call(ctx context.Context, k *call, params any, opts *CallOptions) (any, error) {
	k.settled = make(chan struct{})
	if err := c.dispatch(ctx, k, params); err != nil {
		return nil, c.withdraw(k, err)
	}
	if opts.Sent != nil {
		opts.Sent()
	}
	return c.await(ctx, k, opts)
}

// dispatch queues the request. When it returns an error nothing was sent.
func (c *Conn) dispatch(ctx context.Context, k *call, params any) error {
	if err := c.usable(); err != nil {
		return err
	}
	if c.shutting.Load() && scopeOf(ctx) == nil {
		return cmp.Or(c.Err(), closed(errShutdown))
	}
	if err := c.calls.add(k); err != nil {
		return err
	}
	f := newFrame()
	f.b = appendCall(f.b[:0], k.id, k.method)
	err := c.encodeParams(f, k.m, k.method, params, !k.forwards)
	if err == nil {
		err = ctx.Err()
	}
	size := f.cost()
	if err == nil {
		err = c.out.reserve(ctx, size)
	}
	if err != nil {
		f.free()
		return c.sooner(ctx, err)
	}
	if k.m == nil || !k.m.Streams {
		c.beginLifting(k)
	}
	_, err = c.lib.DispatchCall(ctx, k.method, nil,
		jsonrpc2.PickID(jsonrpc2.ID{Num: k.id}), jsonrpc2.ExtraField(frameField, f))
	if err != nil { // closed meanwhile
		c.out.unreserve(size, false)
		f.free()
		return closed(c.cause())
	}
	c.calls.mu.Lock()
	k.dispatched = true
	over := k.state == callSettled
	c.calls.mu.Unlock()
	if over { // answered before the library had it
		c.objects.over(k.id)
	}
	return nil
}

// withdraw ends a call that was not sent, and returns why. When the end of the
// connection was quicker, that is the reason, and AtResponse is told elsewhere.
func (c *Conn) withdraw(k *call, err error) error {
	c.calls.mu.Lock()
	if k.state != callPending {
		if k.err != nil {
			err = k.err
		}
		c.calls.mu.Unlock()
		return err
	}
	c.calls.removeLocked(k)
	at, lifting := k.at, k.lifting
	k.state, k.err, k.at, k.lifting = callSettled, err, nil, false
	c.calls.mu.Unlock()
	if lifting {
		c.endLifting()
	}
	if at != nil {
		at(err)
	}
	return err
}
