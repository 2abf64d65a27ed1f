package rpc

import (
	"slices"

	"github.com/acpkit/go-sdk/rpcerr"
)

// admitNote gives a notification its place. A group that it ends, ends here and
// now.
func (c *Conn) admitNote(it item, group string) {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.stopped || in.gate == gateClosed {
		return
	}
	if it.entry != nil && it.entry.EndsGroup {
		if after := in.endGroupLocked(group); len(after) > 0 {
			it.what = after
			it.size += pointerSize * int64(len(after))
		}
	}
	in.backlog += it.size
	in.pressureLocked(c.limits.Backlog)
	if in.gate == gatePending {
		in.held = append(in.held, it)
		return
	}
	c.enqueueLocked(it)
}

// enqueueLocked puts an item at the end of the queue.
func (c *Conn) enqueueLocked(it item) {
	in := &c.in
	in.queue.push(it)
	if it.kind == itemRequest {
		in.behind = append(in.behind, it.what.(*request))
	}
	if it.kind != itemNote {
		c.watchSlowLocked()
	}
	if !in.working {
		in.working = true
		go c.work() // ends when the queue is empty
	}
}

// admitRequest registers a request and starts it, or gives it its place behind
// the notifications that were read before. It returns the answer for one that is
// not accepted.
func (c *Conn) admitRequest(r *request) *rpcerr.RequestError {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.stopped:
		return nil
	case in.byID[r.key] != nil:
		return rpcerr.InvalidRequest(nil).WithDetail("id is in use")
	case in.gate == gateClosed && r.method != c.cfg.Handshake:
		return notInitialized(r.method)
	case c.shutting.Load():
		return rpcerr.InternalError(nil).WithDetail(errShutdown.Error())
	}
	r.counted = r.entry == nil || !r.entry.Waits && !r.entry.Group
	if c.tooManyLocked(r) {
		return rpcerr.New(rpcerr.CodeInternalError, "Too many requests", nil)
	}
	if r.entry != nil && r.entry.EndsGroup {
		r.before = in.endGroupLocked(r.group)
		r.size += pointerSize * int64(len(r.before))
	}
	in.byID[r.key] = r
	in.most = max(in.most, len(in.byID))
	if r.entry != nil && r.entry.Group {
		in.groups[r.group] = append(in.groups[r.group], r)
	}
	in.waits += r.size
	in.open += r.size
	if in.gate == gatePending {
		r.parked = true
		in.held = append(in.held, item{kind: itemRequest, what: r})
		return nil
	}
	c.placeRequestLocked(r)
	return nil
}

// tooManyLocked tells whether there is no room for one more request: for one that
// would have to wait, or for any at all. Questions to the user and their like, which may
// stay open for hours, leave a rest to the others.
func (c *Conn) tooManyLocked(r *request) bool {
	in := &c.in
	room := c.limits.MaxOpen
	if r.counted {
		room += c.limits.MaxWaiting
	}
	if in.open > 0 && in.open+r.size+handlerOverhead > room {
		return true
	}
	return !c.startsNowLocked(r) && in.waits+r.size > c.limits.MaxWaiting
}

// startsNowLocked tells whether the request would be started at once.
func (c *Conn) startsNowLocked(r *request) bool {
	in := &c.in
	return in.gate != gatePending && (!in.working || in.insideLocked()) &&
		(!r.counted || in.slots < c.limits.MaxHandlers)
}

// insideLocked tells whether the notification handler that runs is inside a Conn
// method.
func (in *inbound) insideLocked() bool { return in.handling != nil && in.handling.inside > 0 }

// placeRequestLocked starts a request or puts it behind the notifications that
// were read before it.
func (c *Conn) placeRequestLocked(r *request) {
	in := &c.in
	if in.gate == gateClosed { // it is the handshake
		in.gate, r.handshake = gatePending, true
	}
	switch {
	case !in.working:
		c.startLocked(r, c.up)
	case in.insideLocked():
		c.startLocked(r, in.handling)
	default:
		c.enqueueLocked(item{kind: itemRequest, what: r})
	}
}

// unregisterLocked makes the id of a request free again.
func (in *inbound) unregisterLocked(r *request) {
	if r.state == requestAnswered {
		return
	}
	in.open -= r.size
	if r.state == requestRunning {
		in.open -= handlerOverhead
	}
	r.state = requestAnswered
	delete(in.byID, r.key)
	if len(in.byID) == 0 && in.most > keptMap {
		in.byID, in.most = make(map[string]*request), 0
	}
	if r.entry == nil || !r.entry.Group {
		return
	}
	members := in.groups[r.group]
	if i := slices.Index(members, r); i >= 0 {
		members = slices.Delete(members, i, i+1)
	}
	if len(members) == 0 {
		delete(in.groups, r.group)
	} else {
		in.groups[r.group] = members
	}
}
