package rpc

import "github.com/acpkit/go-sdk/rpcerr"

// notification gives a notification its place. A group that it ends, ends here and now.
func (in *inbound) notification(it item) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.stopped:
		in.lost = true
		return
	case in.gate.state == gatePending:
		in.addLocked(it.size, 0)
		in.gate.held = append(in.gate.held, it)
		return
	case in.gate.state == gateClosed:
		it.drop(errBeforeHandshake)
	}
	in.addLocked(it.size, 0)
	in.queueLocked(it)
}

// queueLocked puts a notification whose bytes are counted at the end of the queue.
func (in *inbound) queueLocked(it item) {
	if it.kind == itemNotification && it.entry == nil { // read before its row was known
		if rows := in.rows.Load(); rows != nil {
			it.entry = rows.notifications[it.rare.name]
		}
		if it.entry == nil && in.ignores(it.rare.name) {
			in.addLocked(-it.size, 0)
			return
		}
	}
	if it.entry != nil && it.entry.Ends != EndsNothing {
		if after := in.pending.endGroup(groupKey(it.params), it.entry.Ends == EndsAll); len(after) > 0 {
			it.rare = &rare{after: after}
			grown := pointerSize * int64(len(after))
			it.size += grown
			in.addLocked(grown, 0)
		}
	}
	in.pushLocked(it)
}

// pushLocked puts an item at the end of the queue.
func (in *inbound) pushLocked(it item) {
	start := in.order.push(it)
	if it.kind != itemNotification && it.kind != itemDropped {
		in.slow.watchLocked()
	}
	if start {
		go in.work() // ends when the queue is empty
	}
}

// request registers a request and starts it, or gives it its place after the
// notifications that were read before. It returns the response to one that is not
// accepted.
func (in *inbound) request(r *request) *rpcerr.RequestError {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.stopped:
		return nil
	case in.pending.byID[r.key] != nil:
		return rpcerr.InvalidRequest(nil).WithDetail("id is in use")
	case in.gate.state == gateClosed && r.method != in.handshake:
		return notInitialized(r.method)
	case in.first && in.gate.used && r.method == in.handshake:
		return errLateHandshake
	case in.refusing:
		return rpcerr.InternalError(nil).WithDetail(errShutdown.Error())
	}
	held := in.gate.state == gatePending
	if !held {
		r.resolve(in.rows.Load())
		if err := r.rows.checkID(r); err != nil {
			return err
		}
	}
	if in.pending.tooMany(r, !held && in.startsNowLocked(r)) {
		return rpcerr.New(rpcerr.CodeInternalError, "Too many requests", nil)
	}
	in.pending.register(r)
	in.gate.used = in.gate.used || r.method != in.handshake
	if held {
		r.state = requestHeld
		in.gate.held = append(in.gate.held, item{kind: itemRequest, request: r})
		return nil
	}
	in.placeLocked(r)
	return nil
}

// startsNowLocked reports whether the request would be started at once.
func (in *inbound) startsNowLocked(r *request) bool {
	return (!in.order.working || in.order.inside()) && in.slots.free(r)
}

// placeLocked starts a registered request or puts it after the notifications that were
// read before it.
func (in *inbound) placeLocked(r *request) {
	r.state = requestQueued
	if e := r.entry; e != nil && e.Ends != EndsNothing {
		r.before = in.pending.endGroup(r.group, e.Ends == EndsAll)
		grown := pointerSize * int64(len(r.before))
		r.size += grown
		in.pending.charge(r, grown)
	}
	if e := r.entry; e != nil && e.Group {
		r.member.request = r
		in.pending.join(&r.member, r.group)
	}
	if in.gate.state == gateClosed { // it is the handshake
		in.gate.state, r.handshake = gatePending, true
		in.rows.Store(nil)
	}
	switch {
	case !in.order.working:
		in.startLocked(r)
	case in.order.inside():
		r.up = in.order.handling
		in.startLocked(r)
	default:
		in.pushLocked(item{kind: itemRequest, request: r})
	}
}

// startLocked starts a request's handler, or lets it wait for a slot.
func (in *inbound) startLocked(r *request) {
	if !in.slots.free(r) {
		r.state = requestWaiting
		in.slots.wait(r)
		return
	}
	in.pending.started(r)
	r.task.method = r.method
	in.pending.link(&r.task)
	in.slots.take(r)
	go in.serve(r) // ends when the handler has returned and its response is queued
}

// startWaitingLocked starts those that wait for a slot, as far as there are some.
func (in *inbound) startWaitingLocked() {
	for r := in.slots.next(); r != nil; r = in.slots.next() {
		if r.state == requestWaiting {
			in.startLocked(r)
		} else {
			in.pending.forget(r)
		}
	}
}

// cancel ends the ctx of the request with this key. One that was not started is never
// started: it is returned, and must be responded to. refused are the requests that only
// waited for it.
func (in *inbound) cancel(key string) (unstarted *request, refused []refusal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r := in.pending.byID[key]
	if r == nil {
		return nil, nil
	}
	if r.endedBy == endedByNone {
		r.endedBy = endedByPeer
	}
	r.end(errCancelled)
	if r.state >= requestRunning {
		return nil, nil
	}
	unstarted = &request{id: r.id}
	in.pending.remove(r)
	in.pending.empty(r)
	r.wasCalled()
	if r.handshake {
		refused = in.openLocked(nil)
	}
	in.idleLocked()
	return unstarted, refused
}
