package order

import "sync/atomic"

// pressure says whether the reader must pause, because too much waits to be handled.
type pressure struct {
	budget, most int64

	queued  int64       // bytes of notifications that wait
	held    int64       // bytes of updates that were handled but not yet given out
	lifting int         // calls that wait for a response and are not streams
	paused  bool        // the reader waits
	over    atomic.Bool // the budget is exceeded; written under the lock
}

// addLocked counts bytes of notifications that wait, and of updates that are held.
//
// The reader is not woken for every single message that was handled: when the budget was
// exceeded it goes on with an eighth of it free. It cannot wait for that in vain, because the
// queue goes on getting shorter, and it does not wait when the queue is empty.
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

// Lift makes the reader not pause, n times more.
func (o *Order) Lift(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pressed.lifting += n
	o.room.Signal()
	o.given.Signal()
}

// WaitRoom holds the reader back while too much waits to be handled. It does not while
// something waits for what only the reader can bring, or for the peer, which may do the
// same. It reports whether reading goes on; over means that far too much waits.
func (o *Order) WaitRoom() (goesOn, over bool) {
	if !o.pressed.over.Load() {
		return true, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	p := &o.pressed
	for !o.stopped && p.queued+p.held > p.budget && p.lifting == 0 && !inside(o.handling) {
		if o.handling != nil {
			o.watchLocked()
		}
		p.paused = true
		o.room.Wait()
		p.paused = false
	}
	return !o.stopped, p.queued+p.held > p.most
}
