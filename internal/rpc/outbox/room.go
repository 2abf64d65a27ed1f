package outbox

import "slices"

// room is the room that the frames take which senders queue. Box.mu guards it.
type room struct {
	limit   int64
	bytes   int64     // of frames with room: on the way to the queue, in it, or being written
	waiters []*waiter // senders that wait for room, in order
	closed  error     // no more room is given
}

// waiter is a sender that waits for room.
type waiter struct {
	size  int64
	given chan struct{} // closed when the sender has the room, or never will
	err   error         // why it never will; set before
}

// try reports whether a frame can have its room at once, and gives it.
func (r *room) try(size int64) bool {
	if r.closed != nil || len(r.waiters) > 0 || !r.fits(size) {
		return false
	}
	r.bytes += size
	return true
}

// fits: a message longer than the whole queue passes when it is alone.
func (r *room) fits(size int64) bool { return r.bytes == 0 || r.bytes+size <= r.limit }

// wait makes a sender one that waits.
func (r *room) wait(size int64) *waiter {
	w := &waiter{size: size, given: make(chan struct{})}
	r.waiters = append(r.waiters, w)
	return w
}

// leave takes w out of the waiters. It reports false if w has its room already.
func (r *room) leave(w *waiter) bool {
	i := slices.Index(r.waiters, w)
	if i < 0 {
		return false
	}
	r.waiters = slices.Delete(r.waiters, i, i+1)
	r.give() // it may have stood in the way of shorter ones
	return true
}

// give gives room to the waiters, first come, first served, when a quarter of the
// queue is free. So many of them go on at once, and can send more than one message before
// they wait again: where a thousand send, each message would cost a wait otherwise. If the
// Box is closed it lets all of them go.
func (r *room) give() {
	if r.closed == nil && r.bytes > r.limit-r.limit/4 {
		return
	}
	n := 0
	for _, w := range r.waiters {
		if r.closed == nil && !r.fits(w.size) {
			break
		}
		if w.err = r.closed; w.err == nil {
			r.bytes += w.size
		}
		close(w.given)
		n++
	}
	r.waiters = slices.Delete(r.waiters, 0, n)
}
