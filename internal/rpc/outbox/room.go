package outbox

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// room is the room for frames of senders. Box.mu guards it.
type room struct {
	limit   int64
	bytes   int64     // of frames with room: on the way to the queue, in it, or being written
	waiters []*waiter // senders that wait for room, in order
	closed  error     // no more room is given
}

// waiter is a sender that waits for room.
type waiter struct {
	size  int64
	given chan struct{} // closed when the sender has the room, or err is set
	err   error         // why it gets none
}

// try takes room if there is some, and reports whether there is.
func (r *room) try(size int64) bool {
	if r.closed != nil || len(r.waiters) > 0 || !r.fits(size) {
		return false
	}
	r.bytes += size
	return true
}

// fits reports whether there is room. A message longer than the queue fits when it is alone.
func (r *room) fits(size int64) bool { return r.bytes == 0 || r.bytes+size <= r.limit }

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
	r.give() // shorter ones may fit
	return true
}

// give gives room to the waiters, first come, first served, when half of the queue is free, so
// that many of them go on at once and can send more than one message before they wait again. If
// the Box is closed, all waiters fail.
func (r *room) give() {
	if r.closed == nil && r.bytes > r.limit/2 {
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

// stall watches whether the queue, or the reserve, stays full. Box.mu guards it.
type stall struct {
	timer    *time.Timer
	watching bool      // the timer runs
	last     time.Time // when something was written last, or when it became full
	seen     int64     // what the meter showed then
}

func (s *stall) stop() {
	if s.watching {
		s.watching = false
		s.timer.Stop()
	}
}

// progress records that something was written.
func (s *stall) progress(seen int64, full bool) {
	if !s.watching {
		return
	}
	s.last, s.seen = time.Now(), seen
	if !full {
		s.stop()
	}
}

// fullLocked reports whether the peer reads too slowly: a sender waits for room, or much of the
// queue is full although senders have given up, or the reserve is full.
func (b *Box) fullLocked() bool {
	return len(b.room.waiters) > 0 || b.room.bytes > b.room.limit/2 || b.own.bytes > b.own.limit
}

// watch ends the connection if the queue or the reserve stays full and nothing is written.
func (b *Box) watch() {
	seen := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stall.watching || !b.fullLocked() || b.room.closed != nil {
		return
	}
	b.stall.watching, b.stall.last, b.stall.seen = true, time.Now(), seen
	if b.stall.timer == nil {
		b.stall.timer = time.AfterFunc(b.cfg.StallTimeout, b.checkStall)
	} else {
		b.stall.timer.Reset(b.cfg.StallTimeout)
	}
}

// measure returns how many bytes the stream has sent. No lock is held, because a stream of the user
// may wait for a blocked Write.
func (b *Box) measure() int64 {
	if b.cfg.Features.Written == nil {
		return 0
	}
	return b.cfg.Features.Written()
}

func (b *Box) checkStall() {
	seen := b.measure()
	b.mu.Lock()
	s := &b.stall
	if b.room.closed != nil || !s.watching {
		b.mu.Unlock()
		return
	}
	if !b.fullLocked() { // senders that waited have left
		s.watching = false
		b.mu.Unlock()
		return
	}
	if seen != s.seen { // a long message is on its way
		s.last, s.seen = time.Now(), seen
	}
	if idle := time.Since(s.last); idle < b.cfg.StallTimeout {
		s.timer.Reset(b.cfg.StallTimeout - idle)
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	b.cfg.Failed(wire.ErrStalled)
}

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
	lifted  bool        // the reader continues although the reserve is full
	closed  bool        // the reader never waits
	room    sync.Cond   // the reader may continue
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
