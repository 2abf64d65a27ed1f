package outbox

import (
	"sync"
	"sync/atomic"
	"time"
)

// ownGrace is how long the reader pauses while nothing is written: both ends may be pausing, and
// then neither is read.
const ownGrace = 100 * time.Millisecond

// maxOwn is how many bytes of own responses may wait while the reader does not pause.
const maxOwn = 64 << 20

// own is the reserve of the connection's own responses. Box.mu guards it.
type own struct {
	limit   int64 // Config.Reserve
	bytes   int64
	over    atomic.Bool // they exceed the limit; written under the lock
	pausing bool        // the reader waits
	lifted  bool        // the reader goes on although the reserve is full
	closed  bool        // the reader never waits
	room    sync.Cond   // the reader may go on
	timer   *time.Timer
}

func (o *own) mustPause() bool {
	limit := o.limit
	if o.lifted {
		limit = maxOwn
	} else if o.pausing {
		limit -= limit / 8 // the reader is not woken for every single response
	}
	return o.bytes > limit && !o.closed
}

func (o *own) resume() {
	if o.over.Load() && o.bytes <= o.limit {
		o.over.Store(false)
	}
	if o.pausing && !o.mustPause() {
		o.room.Signal()
	}
}

func (o *own) close() {
	o.closed = true
	if o.timer != nil {
		o.timer.Stop()
	}
	o.resume()
}

// PushOwn queues a response of the connection itself. It never waits.
func (b *Box) PushOwn(f *Frame) {
	b.mu.Lock()
	if b.dead || b.room.closed != nil {
		b.mu.Unlock()
		return
	}
	b.own.bytes += f.cost()
	over := b.own.bytes > b.own.limit
	b.own.over.Store(over)
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

// WaitOwn waits while the own responses exceed their reserve. The reader calls it before it reads.
// If nothing was written for ownGrace, the reader goes on until the next write ends, up to
// maxOwn.
func (b *Box) WaitOwn() {
	if !b.own.over.Load() {
		return
	}
	b.mu.Lock()
	if !b.own.mustPause() {
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	seen := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.own.pausing = true
	b.armPauseLocked(seen)
	for b.own.mustPause() {
		b.own.room.Wait()
	}
	b.own.pausing = false
	b.own.timer.Stop()
}

func (b *Box) armPauseLocked(seen int64) {
	ends := b.ends
	if b.own.timer != nil {
		b.own.timer.Stop()
	}
	b.own.timer = time.AfterFunc(ownGrace, func() { b.liftPause(ends, seen) })
}

func (b *Box) liftPause(ends uint64, seen int64) {
	now := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.own.pausing || b.own.closed:
	case b.ends != ends || now != seen: // something was written meanwhile
		b.armPauseLocked(now)
	default:
		b.own.lifted = true
		b.own.room.Signal()
	}
}
