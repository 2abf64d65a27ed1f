package outbox

import "time"

// ownGrace is how long the reader pauses while nothing is written. Both ends may be
// pausing, and then neither is read.
const ownGrace = 100 * time.Millisecond

// PushOwn queues a response of the connection itself. It never waits.
func (b *Box) PushOwn(f *Frame) {
	b.mu.Lock()
	if b.dead || b.closed != nil {
		b.mu.Unlock()
		return
	}
	b.own += f.cost()
	over := b.own > b.cfg.Reserve
	b.ownOver.Store(over)
	watch := over && !b.stall.watching
	start := b.appendLocked(f)
	b.mu.Unlock()
	if watch {
		b.watch()
	}
	if start {
		b.StartLater()
	}
}

// WaitOwn is called by the reader before it reads on. It waits while the own responses
// exceed their reserve. If nothing was written for ownGrace it lets the reader go on until
// the next write ends, up to Config.MaxOwn.
func (b *Box) WaitOwn() {
	if !b.ownOver.Load() {
		return
	}
	b.mu.Lock()
	if !b.mustPauseLocked() {
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	seen := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pausing = true
	b.armPauseLocked(seen)
	for b.mustPauseLocked() {
		b.ownRoom.Wait()
	}
	b.pausing = false
	b.pause.Stop()
}

func (b *Box) mustPauseLocked() bool {
	limit := b.cfg.Reserve
	if b.lifted {
		limit = b.cfg.MaxOwn
	} else if b.pausing {
		limit -= limit / 8 // the reader is not woken for every single response
	}
	return b.own > limit && b.closed == nil && !b.dead
}

// armPauseLocked lets the reader go on if nothing is written for ownGrace.
func (b *Box) armPauseLocked(seen int64) {
	ends := b.ends
	if b.pause != nil {
		b.pause.Stop()
	}
	b.pause = time.AfterFunc(ownGrace, func() { b.liftPause(ends, seen) })
}

func (b *Box) liftPause(ends uint64, seen int64) {
	now := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.pausing || b.closed != nil:
	case b.ends != ends || now != seen: // something was written meanwhile
		b.armPauseLocked(now)
	default:
		b.lifted = true
		b.ownRoom.Signal()
	}
}

// resumeLocked lets the reader go on if there is room for own responses again.
func (b *Box) resumeLocked() {
	if b.ownOver.Load() && b.own <= b.cfg.Reserve {
		b.ownOver.Store(false)
	}
	if b.pausing && !b.mustPauseLocked() {
		b.ownRoom.Signal()
	}
}
