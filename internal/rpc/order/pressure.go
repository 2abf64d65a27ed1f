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

func (p *pressure) total() int64 { return p.queued + p.held }

// add counts bytes of notifications that wait, and of updates that are held. It
// reports whether the reader must be woken.
//
// The reader is not woken for every single message that was handled: when the budget
// was exceeded it goes on with an eighth of it free. It cannot wait for that in vain,
// since the queue goes on getting shorter, and it does not wait when the queue is empty.
func (p *pressure) add(queued, held int64) (wake bool) {
	p.queued += queued
	p.held += held
	total := p.total()
	if over := total > p.budget; over != p.over.Load() {
		p.over.Store(over)
	}
	return p.paused && total <= p.budget && (p.queued == 0 || total <= p.budget-p.budget/8)
}

func (o *Order) addLocked(queued, held int64) {
	if o.pressed.add(queued, held) {
		o.room.Signal()
	}
	if held < 0 {
		o.given.Signal()
	}
}

// Press counts bytes of updates that were handled but not yet given out, and makes the reader
// not pause, lift times more. It never blocks.
func (o *Order) Press(held int64, lift int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addLocked(0, held)
	if lift != 0 {
		o.pressed.lifting += lift
		o.room.Signal()
		o.given.Signal()
	}
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
	for !o.stopped && p.total() > p.budget && p.lifting == 0 && !inside(o.handling) {
		if o.handling != nil {
			o.watchLocked()
		}
		p.paused = true
		o.room.Wait()
		p.paused = false
	}
	return !o.stopped, p.total() > p.most
}

// waitGivenLocked holds the worker back while the updates that were handled and not given out
// exceed the budget by themselves: what is queued is smaller than what it becomes. The
// conditions are those of the reader. After the end of input nothing more can come, so the
// worker goes on.
func (o *Order) waitGivenLocked() {
	p := &o.pressed
	for !o.stopped && !o.ended && p.held > p.budget && p.lifting == 0 {
		o.given.Wait()
	}
}
