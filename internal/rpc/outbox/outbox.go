package outbox

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// Config is what New needs.
type Config struct {
	Stream stream.Stream
	// Features are those of Stream.
	Features *stream.Features

	// Queue is how many bytes may wait to be written before senders wait. Reserve is how
	// many bytes of own responses may wait before the reader does, MaxOwn how many if the
	// reader may not wait.
	Queue, Reserve, MaxOwn int64
	// StallTimeout is how long the queue or the reserve may be full with nothing written.
	StallTimeout time.Duration

	// Failed is called with the error that ends the connection: a write error, or
	// wire.ErrStalled. It must not block.
	Failed func(error)
	// Refused is called with a frame that the stream cannot carry, and why. It must not
	// block, and must not keep the frame. No lock is held.
	Refused func(*Frame, error)
}

// Box is the queue of what is to be written. It is safe for concurrent use.
type Box struct {
	cfg Config

	ownOver atomic.Bool // own responses exceed the reserve; written under mu

	work    sync.Cond // uses mu: the writer is called, or the Box is dead
	begins  sync.Cond // uses mu: a writer that was called has begun
	ownRoom sync.Cond // uses mu: the reader may go on

	msgs [][]byte // the writer's alone

	mu      sync.Mutex // guards all below
	queue   []*Frame
	spare   []*Frame
	bytes   int64     // of frames with room: on the way to the queue, in it, or being written
	own     int64     // of own responses, not counted in bytes
	waiters []*waiter // senders that wait for room, in order
	closed  error     // no more room is given
	dead    bool      // nothing more is written
	empty   chan struct{}

	writing       bool   // there is a writer, or a sender is about to be one
	running       bool   // the goroutine that can be called exists
	called, begun uint64 // how often the writer was called, and has begun
	rest          *time.Timer
	lately        uint64    // called, when rest was set
	rested        bool      // the goroutine may end
	started       time.Time // the last time by Start
	since         int       // frames that were queued since
	flood         int       // frames in a row with hardly any time between them
	ends          uint64    // writes that ended
	over          chan struct{}

	pausing bool // the reader waits
	lifted  bool // the reader goes on although the reserve is full
	pause   *time.Timer
	stall   stall
}

// waiter is a sender that waits for room.
type waiter struct {
	size  int64
	given chan struct{} // closed when the sender has the room, or never will
	err   error         // why it never will; set before
}

// New returns an empty Box. It starts nothing.
func New(cfg Config) *Box {
	b := &Box{cfg: cfg, over: make(chan struct{})}
	b.work.L, b.begins.L, b.ownRoom.L = &b.mu, &b.mu, &b.mu
	return b
}

// TryReserve reports whether f may be queued at once, and gives it its room if so.
func (b *Box) TryReserve(f *Frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tryReserveLocked(f.cost())
}

func (b *Box) tryReserveLocked(size int64) bool {
	if b.closed != nil || len(b.waiters) > 0 || !b.fitsLocked(size) {
		return false
	}
	b.bytes += size
	return true
}

// Reserve waits until f may be queued. It fails if ctx is done, and if the Box is closed.
func (b *Box) Reserve(ctx context.Context, f *Frame) error {
	size := f.cost()
	b.mu.Lock()
	if b.tryReserveLocked(size) {
		b.mu.Unlock()
		return nil
	}
	if b.closed != nil {
		b.mu.Unlock()
		return b.closed
	}
	w := &waiter{size: size, given: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	watched := b.stall.watching
	b.mu.Unlock()
	if !watched {
		b.watch()
	}

	select {
	case <-w.given:
	case <-ctx.Done():
		if b.leave(w) {
			return ctx.Err()
		}
	}
	return w.err
}

func (b *Box) returnLocked(size int64) {
	b.bytes -= size
	b.giveLocked()
	b.emptyLocked()
}

// fitsLocked: a message longer than the whole queue passes when it is alone.
func (b *Box) fitsLocked(size int64) bool {
	return b.bytes == 0 || b.bytes+size <= b.cfg.Queue
}

// leave takes w out of the waiters. It reports false if w has its room already.
func (b *Box) leave(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiters, w)
	if i < 0 {
		return false
	}
	b.waiters = slices.Delete(b.waiters, i, i+1)
	b.giveLocked() // it may have stood in the way of shorter ones
	if !b.fullLocked() {
		b.stall.stop()
	}
	return true
}

// giveLocked gives room to the waiters, first come, first served, when a quarter of the
// queue is free. So many of them go on at once, and can send more than one message before
// they wait again: where a thousand send, each message would cost a wait otherwise. If the
// Box is closed it lets all of them go.
func (b *Box) giveLocked() {
	if b.closed == nil && b.bytes > b.cfg.Queue-b.cfg.Queue/4 {
		return
	}
	n := 0
	for _, w := range b.waiters {
		if b.closed == nil && !b.fitsLocked(w.size) {
			break
		}
		if w.err = b.closed; w.err == nil {
			b.bytes += w.size
		}
		close(w.given)
		n++
	}
	b.waiters = slices.Delete(b.waiters, 0, n)
}

// Duty is what a sender owes after Push.
type Duty uint8

const (
	None    Duty = iota
	Wait         // WaitBegun, unless it waits for something else
	Begin        // Start, StartLater or Write: there is no writer
	Dropped      // nothing: the frame will not be written, since nothing more is
)

// Push queues a frame that has room.
func (b *Box) Push(f *Frame) Duty {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		b.returnLocked(f.cost())
		return Dropped
	}
	switch {
	case b.appendLocked(f):
		return Begin
	case b.begun < b.called && len(b.queue) >= floodBatch:
		return Wait
	}
	return None
}

// appendLocked reports whether the caller must start the writer.
func (b *Box) appendLocked(f *Frame) (start bool) {
	b.queue = append(b.queue, f)
	b.since++
	start = !b.writing
	b.writing = true
	return start
}

// Close gives no more room. What is queued is still written.
func (b *Box) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return
	}
	b.closed = err
	b.stall.stop()
	if b.pause != nil {
		b.pause.Stop()
	}
	b.giveLocked()
	b.ownRoom.Broadcast()
}

// Flushed returns a channel that is closed when everything that has room was written or
// dropped.
func (b *Box) Flushed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.empty == nil {
		b.empty = make(chan struct{})
		b.emptyLocked()
	}
	return b.empty
}

func (b *Box) emptyLocked() {
	if b.empty == nil || b.bytes > 0 || b.own > 0 || b.writing {
		return
	}
	select {
	case <-b.empty:
	default:
		close(b.empty)
	}
}

// Ended returns a channel that is closed when nothing of the Box runs, after
// Abandon.
func (b *Box) Ended() <-chan struct{} { return b.over }

func (b *Box) endLocked() {
	if !b.dead || b.running || b.writing {
		return
	}
	select {
	case <-b.over:
	default:
		close(b.over)
	}
}

// Abandon drops what is left.
func (b *Box) Abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropLocked()
}

// dropLocked empties the queue. Nothing is written from then on.
func (b *Box) dropLocked() {
	b.dead = true
	if b.rest != nil {
		b.rest.Stop()
	}
	for _, f := range b.queue {
		b.settleLocked(f)
	}
	clear(b.queue)
	b.queue = nil
	b.giveLocked()
	b.resumeLocked()
	b.emptyLocked()
	b.work.Signal()
	b.begins.Broadcast()
	b.endLocked()
}

// settleLocked gives back what a frame in the queue counted for.
func (b *Box) settleLocked(f *Frame) {
	switch {
	case f.cancels != nil:
	case f.own:
		b.own -= f.cost()
	default:
		b.bytes -= f.cost()
	}
}
