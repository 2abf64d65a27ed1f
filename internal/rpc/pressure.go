package rpc

import "github.com/acpkit/go-sdk/internal/wire"

// Hold counts bytes of updates that were handled but not yet given out towards
// the back-pressure. It never blocks.
func (c *Conn) Hold(n int64) { c.addHeld(n) }

// Release gives back what Hold counted.
func (c *Conn) Release(n int64) { c.addHeld(-n) }

func (c *Conn) addHeld(n int64) {
	in := &c.in
	in.mu.Lock()
	in.heldOut += n
	in.pressureLocked(c.limits.Backlog)
	in.mu.Unlock()
}

// pressureLocked notes whether the budget is exceeded, and lets the reader go on
// when it has room again.
func (in *inbound) pressureLocked(budget int64) {
	total := in.backlog + in.heldOut
	if over := total > budget; over != in.over.Load() {
		in.over.Store(over)
	}
	// The reader is not woken for every single message that was handled.
	if in.paused && total <= budget && (in.backlog == 0 || total <= budget-budget/8) {
		in.wakeReaderLocked()
	}
}

func (in *inbound) wakeReaderLocked() {
	if in.paused {
		in.room.Signal()
	}
}

// waitRoom holds the reader back while too much waits to be handled. It reports
// false when there is nothing to read for any more.
func (c *Conn) waitRoom() bool {
	in := &c.in
	if !in.over.Load() {
		return true
	}
	in.mu.Lock()
	for !in.stopped && in.backlog+in.heldOut > c.limits.Backlog && !in.liftedLocked() {
		if in.handling != nil {
			c.watchSlowLocked()
		}
		in.paused = true
		in.room.Wait()
		in.paused = false
	}
	total, stopped := in.backlog+in.heldOut, in.stopped
	in.mu.Unlock()
	if stopped {
		return false
	}
	if total > c.limits.MaxBacklog {
		c.finish(endBroken, wire.ErrOverloaded)
		return false
	}
	return true
}

// liftedLocked tells whether the reader must not pause: somebody waits for what
// only the reader can bring, or for the peer, which may do the same.
func (in *inbound) liftedLocked() bool {
	return in.lifting > 0 || in.insideLocked()
}

// beginLifting: a call waits for its answer, and the reader must not pause until
// it is read.
func (c *Conn) beginLifting(k *call) {
	c.calls.mu.Lock()
	if k.state != callPending {
		c.calls.mu.Unlock()
		return
	}
	k.lifting = true
	c.calls.mu.Unlock()
	in := &c.in
	in.mu.Lock()
	in.lifting++
	in.wakeReaderLocked()
	in.mu.Unlock()
}

func (c *Conn) endLifting() {
	c.in.mu.Lock()
	c.in.lifting--
	c.in.mu.Unlock()
}
