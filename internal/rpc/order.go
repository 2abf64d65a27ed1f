package rpc

// order is the queue of what was read and is not handled yet, and the one goroutine
// that works it off, the worker. The worker exists while there is something in the
// queue or in its hands. Guarded by the lock of inbound.
type order struct {
	queue    queue
	working  bool
	handling *scope     // the notification whose handler runs
	behind   []*request // those in the queue that were not started yet, in order
}

// push puts an item at the end of the queue. It reports whether a worker must be
// started.
func (o *order) push(it item) (start bool) {
	o.queue.push(it)
	if it.kind == itemRequest {
		o.behind = append(o.behind, it.request)
	}
	start = !o.working
	o.working = true
	return start
}

// pop takes the first item out of the queue. For the place of a request it reports
// whether the request was not started out of turn before.
func (o *order) pop() (it item, inTurn bool) {
	it = o.queue.pop()
	if it.kind == itemRequest && len(o.behind) > 0 && o.behind[0] == it.request {
		o.behind[0] = nil
		o.behind = o.behind[1:]
		return it, true
	}
	return it, false
}

// takeBehind returns the requests that wait in the queue, and lets them no longer wait
// for their turn.
func (o *order) takeBehind() []*request {
	behind := o.behind
	o.behind = nil
	return behind
}

// inside reports whether the notification handler that runs waits inside a Conn method.
func (o *order) inside() bool { return o.handling != nil && o.handling.inside > 0 }

// waits names what waits for the notification handler that runs: a call whose response
// was read, or a request.
func (o *order) waits() string {
	for it := range o.queue.all() {
		switch {
		case it.call != nil && it.call.id > 0: // without an id only the place is of interest
			return it.call.method
		case it.request != nil && it.request.state == requestQueued:
			return it.request.method
		}
	}
	return ""
}
