package rpc

import "sync"

// requestEnters: the handler of a request begins a call. It gives its slot away
// meanwhile.
func (in *inbound) requestEnters(r *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r.inside++
	r.relayedLocked()
	if in.slots.give(r) {
		in.startWaitingLocked()
	}
}

// requestLeaves takes the slot back. It does not wait for a free one: the handler may
// hold what the others need.
func (in *inbound) requestLeaves(r *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r.inside--
	if r.inside == 0 && !r.served {
		in.slots.take(r)
	}
}

// resume starts requests that waited until fewer results were in flight.
func (in *inbound) resume() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.startWaitingLocked()
}

// responds: the handler of a request has returned. It reports how its ctx was ended
// before.
func (in *inbound) responds(r *request) endedBy {
	in.mu.Lock()
	defer in.mu.Unlock()
	if r.state == requestRunning {
		r.state = requestResponding
	}
	return r.endedBy
}

// grows: a request holds more than its message.
func (in *inbound) grows(r *request, size int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending.grow(r, size)
}

// stalls: the response to a request waits for room in the outgoing queue; done
// means that it no longer does.
func (in *inbound) stalls(r *request, size int64) (done func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending.grow(r, size)
	in.slots.stalled++
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.slots.stalled--
		in.startWaitingLocked()
	}
}

// responded: the response to a request has its room in the outgoing queue, or will never
// leave. Its id is free again.
func (in *inbound) responded(r *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending.free(r)
}

// relays returns a channel that is closed when the response to a request is queued, or
// its handler waits for something else than the call that is about to return. It returns
// nil if that is so already.
func (in *inbound) relays(r *request) <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	if r.state != requestRunning || r.inside > 1 || r.released {
		return nil
	}
	if r.relay == nil {
		r.relay = make(chan struct{})
	}
	return r.relay
}

// release: nothing waits for the response to a request from now on.
func (in *inbound) release(r *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r.released = true
	r.relayedLocked()
}

// relayed: the response to a request is in the outgoing queue. Handlers that wait for
// that may send from now on, after the response.
func (in *inbound) relayed(r *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending.part(r)
	r.relayedLocked()
}

// ends: nothing runs for the request.
func (in *inbound) ends(r *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r.served = true
	if in.slots.give(r) {
		in.startWaitingLocked()
	}
	in.pending.unlink(&r.task)
	in.idleLocked()
}

// begin counts code of the user that runs for another reason than a message.
func (in *inbound) begin(t *task) (end func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending.link(t)
	return sync.OnceFunc(func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.pending.unlink(t)
		in.idleLocked()
	})
}
