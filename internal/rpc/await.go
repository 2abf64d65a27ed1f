package rpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// await waits for the answer, or for the end of ctx. The library has a way to wait too,
// but it wakes the caller only when it has read its own copy of the answer.
func (c *Conn) await(ctx context.Context, k *call, opts *CallOptions) (any, error) {
	if k.wait(ctx) {
		return c.outcome(k)
	}
	if opts.OnCtxDone != nil {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Grace)
		defer cancel()
		opts.OnCtxDone()
		if k.wait(grace) {
			return c.outcome(k)
		}
	}
	return c.abandon(ctx, k, opts.OnCtxDone == nil)
}

// wait reports whether the call was settled before ctx ended.
func (k *call) wait(ctx context.Context) bool {
	select {
	case <-k.settled:
		return true
	default:
	}
	select {
	case <-k.settled:
		return true
	case <-ctx.Done():
		return false
	}
}

// abandon ends the wait for an answer because ctx has ended.
func (c *Conn) abandon(ctx context.Context, k *call, tell bool) (any, error) {
	c.calls.mu.Lock()
	switch k.state {
	case callSettled:
		c.calls.mu.Unlock()
		return c.outcome(k)
	case callDelivering: // AtResponse does not block
		c.calls.mu.Unlock()
		<-k.settled
		return c.outcome(k)
	}
	err := c.sooner(ctx, ctx.Err())
	if k.state == callAnswered { // AtResponse is told when the answer's place is reached
		k.state, k.err = callSettled, err
		k.result, k.fault = nil, nil // its place may be far
		c.calls.mu.Unlock()
		c.objects.over(k.id)
		return nil, err
	}
	c.calls.removeLocked(k)
	at, lifting := k.at, k.lifting
	k.state, k.err, k.at, k.lifting = callSettled, err, nil, false
	c.calls.mu.Unlock()

	c.objects.over(k.id)
	if lifting {
		c.endLifting()
	}
	if at != nil {
		c.enqueueResponse(&call{method: k.method, at: at, err: err, state: callAnswered})
	}
	if tell {
		c.sendCancel(k.id)
	}
	return nil, err
}

// CtxError returns why a ctx has ended: its error, or that of the connection when both
// ended together.
func (c *Conn) CtxError(ctx context.Context) error {
	if !c.started.Load() {
		return ctx.Err()
	}
	return c.sooner(ctx, ctx.Err())
}

// sooner returns why something failed with err. Where that is the end of ctx, and ctx
// has ended with the connection, as those of handlers do, the latter is the reason.
func (c *Conn) sooner(ctx context.Context, err error) error {
	if ctx.Err() != nil && c.life.Err() != nil && errors.Is(err, ctx.Err()) {
		return closed(context.Cause(c.life))
	}
	return err
}

// placeLocked splits what is to run at the answer's place off a call that does not
// wait for that place.
func (k *call) placeLocked() *call {
	if !k.exempt || k.at == nil {
		return nil
	}
	place := &call{method: k.method, m: k.m, at: k.at, state: callAnswered, result: k.result, fault: k.fault, err: k.err}
	k.at = nil
	return place
}

// deliver lets the caller go on. It is called at the answer's place in the order.
func (c *Conn) deliver(k *call) {
	c.calls.mu.Lock()
	at := k.at
	k.at = nil
	if k.state == callSettled { // abandoned, while its answer waited
		err := k.err
		c.calls.mu.Unlock()
		if at != nil {
			c.protect("AtResponse", func() { at(err) })
		}
		return
	}
	k.state = callDelivering
	c.calls.mu.Unlock()
	if at != nil {
		k.valueErr = c.safely(func() (err error) { k.value, err = c.decode(k); return err })
		k.decoded = true
		c.protect("AtResponse", func() { at(k.valueErr) })
	}
	c.settle(k)
}

// settle wakes the caller.
func (c *Conn) settle(k *call) {
	c.calls.mu.Lock()
	k.state = callSettled
	dispatched := k.dispatched
	c.calls.mu.Unlock()
	if k.settled != nil {
		close(k.settled)
	}
	if dispatched {
		c.objects.over(k.id)
	}
}

// failCalls makes new calls fail, and those of the pending ones that pick chooses.
func (c *Conn) failCalls(err error, pick func(*call) bool) {
	c.calls.mu.Lock()
	if c.calls.closed == nil {
		c.calls.closed = err
	}
	var failed []*call
	for _, k := range c.calls.pending {
		if pick(k) {
			failed = append(failed, k)
		}
	}
	slices.SortFunc(failed, func(a, b *call) int { return cmp.Compare(a.id, b.id) })
	lifting := 0
	var places []*call
	for _, k := range failed {
		c.calls.removeLocked(k)
		k.state, k.err = callAnswered, c.calls.closed
		if k.lifting {
			k.lifting = false
			lifting++
		}
		if place := k.placeLocked(); place != nil {
			places = append(places, place)
		}
	}
	c.calls.mu.Unlock()
	for range lifting {
		c.endLifting()
	}
	for _, k := range failed {
		c.deliver(k)
	}
	for _, place := range places {
		c.enqueueResponse(place)
	}
}
