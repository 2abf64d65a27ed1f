package order

import "sync/atomic"

// pressure reports whether the reader must pause, because too many messages wait to be handled.
type pressure struct {
	budget, most int64

	queued int64       // bytes of notifications that wait
	held   int64       // bytes of updates that were handled but not yet given out
	lifted bool        // a call that is not a stream waits for its response
	paused bool        // the reader waits
	over   atomic.Bool // the budget is exceeded; written under the lock
}

// addLocked counts bytes of notifications that wait, and of updates that are held.
//
// The reader is not woken for every single message that was handled: after the budget was exceeded,
// it continues when an eighth of the budget is free. It does not wait forever, because the queue
// gets shorter, and it does not wait for an empty queue.
func (o *Order) addLocked(queued, held int64) {
	p := &o.pressed
	p.queued += queued
	p.held += held
	total := p.queued + p.held
	if over := total > p.budget; over != p.over.Load() {
		p.over.Store(over)
	}
	if p.paused && total <= p.budget && (p.queued == 0 || total <= p.budget-p.budget/8) {
		o.room.Signal()
	}
	if held < 0 {
		o.given.Signal()
	}
}

// Press counts bytes of updates that were handled but not yet given out. It never blocks.
func (o *Order) Press(held int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addLocked(0, held)
}

// Lift prevents the reader from pausing, until it is called with false.
func (o *Order) Lift(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pressed.lifted = on
	o.room.Signal()
	o.given.Signal()
}

// WaitRoom makes the reader wait while too many messages wait to be handled. It does not wait while
// something needs a message that only the reader can bring, or waits for the peer, which may need
// the same. It reports whether reading continues; over means that the hard limit is exceeded.
func (o *Order) WaitRoom() (goesOn, over bool) {
	if !o.pressed.over.Load() {
		return true, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	p := &o.pressed
	for !o.stopped && p.queued+p.held > p.budget && !p.lifted && !inside(o.handling) {
		if o.handling != nil {
			o.watchLocked()
		}
		p.paused = true
		o.room.Wait()
		p.paused = false
	}
	return !o.stopped, p.queued+p.held > p.most
}
