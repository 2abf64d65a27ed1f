// Package outbox is the outgoing queue of a connection: encoded messages, the room that senders
// wait for, and the writer.
//
// A sender encodes a [Frame], waits for room with [Box.Reserve] and queues the frame with
// [Box.Push]. There is at most one writer. It writes what is queued in one batch; what is queued
// meanwhile leaves with the next batch. When the queue is empty, its goroutine waits for a second
// or two, and ends. A goroutine that has nothing else to do may be the writer ([Box.Write]).
//
// The responses of the connection itself, such as the refusal of a request, are queued without
// waiting ([Box.PushOwn]). They have a reserve of their own, and the reader pauses while it is
// full ([Box.WaitOwn]). Cancels ([Box.Cancel]) are always accepted and use no room: there are
// never more of them than calls.
//
// One lock, Box.mu, guards all of it. Nothing is called while it is held. The package does not
// know what the messages mean.
package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// Config configures a Box.
type Config struct {
	// Write writes one message to the stream. Features are the features of that stream.
	Write    func([]byte) error
	Features *stream.Features

	// Queue is how many bytes may wait to be written before senders wait. Reserve is how many
	// bytes of own responses may wait before the reader waits.
	Queue, Reserve int64
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

	msgs [][]byte // a batch; only the writer uses it

	mu    sync.Mutex // guards all below
	queue []*Frame
	spare []*Frame
	room  room
	own   own
	stall stall
	hand  hand
	ends  uint64        // writes that ended
	crowd int           // before so many batches the writer lets the senders go first
	dead  bool          // nothing more is written
	empty chan struct{} // closed when everything was written; nil while no one waits for that
	over  chan struct{} // closed when nothing runs
}

// New returns an empty Box. It starts nothing.
func New(cfg Config) *Box {
	b := &Box{cfg: cfg, over: make(chan struct{})}
	b.room.limit, b.own.limit = cfg.Queue, cfg.Reserve
	b.own.room.L, b.hand.work.L, b.hand.begins.L = &b.mu, &b.mu, &b.mu
	return b
}

// TryReserve reserves room for f if that is possible without waiting, and reports whether it is.
func (b *Box) TryReserve(f *Frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.room.try(f.cost())
}

// Reserve waits for room for f. It fails if ctx is done or the Box is closed.
func (b *Box) Reserve(ctx context.Context, f *Frame) error {
	b.mu.Lock()
	if b.room.try(f.cost()) || b.room.closed != nil {
		defer b.mu.Unlock()
		return b.room.closed
	}
	w := b.room.wait(f.cost())
	watched := b.stall.watching
	b.mu.Unlock()
	if !watched {
		b.watch()
	}

	select {
	case <-w.given:
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.room.leave(w) {
			if !b.fullLocked() {
				b.stall.stop()
			}
			return ctx.Err()
		}
	}
	return w.err
}

// Duty tells a sender what to do after Push.
type Duty uint8

const (
	None    Duty = iota
	Begin        // Start, StartLater or Write: there is no writer
	Dropped      // nothing: the frame will not be written, since nothing more is
)

// Push queues a frame that has room.
func (b *Box) Push(f *Frame) Duty {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		b.room.bytes -= f.cost()
		b.room.give()
		b.endLocked()
		return Dropped
	}
	if b.appendLocked(f) {
		return Begin
	}
	return None
}

// appendLocked reports whether the caller must start the writer.
func (b *Box) appendLocked(f *Frame) (start bool) {
	b.queue = append(b.queue, f)
	start = !b.hand.writing
	b.hand.writing = true
	return start
}

// Close gives no more room. What is queued is still written.
func (b *Box) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.room.closed != nil {
		return
	}
	b.room.closed = err
	b.stall.stop()
	b.own.close()
	b.room.give()
}

// Flushed returns a channel that is closed when everything that has room was written or
// dropped.
func (b *Box) Flushed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.empty == nil {
		b.empty = make(chan struct{})
		b.endLocked()
	}
	return b.empty
}

// Ended returns a channel that is closed when nothing of the Box runs, after
// Abandon.
func (b *Box) Ended() <-chan struct{} { return b.over }

// endLocked closes the channels of Flushed and Ended when that is so.
func (b *Box) endLocked() {
	if b.empty != nil && b.room.bytes == 0 && b.own.bytes == 0 && !b.hand.writing {
		closeOnce(b.empty)
	}
	if b.dead && !b.hand.running && !b.hand.writing {
		closeOnce(b.over)
	}
}

func closeOnce(ch chan struct{}) {
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// Abandon drops what is not written.
func (b *Box) Abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropLocked()
}

// dropLocked empties the queue. Nothing is written from then on.
func (b *Box) dropLocked() {
	b.dead = true
	for _, f := range b.queue {
		b.settleLocked(f)
	}
	clear(b.queue)
	b.queue = nil
	b.room.give()
	b.own.close()
	b.hand.stop()
	b.endLocked()
}

// settleLocked gives back what a frame in the queue counted for.
func (b *Box) settleLocked(f *Frame) {
	switch {
	case f.free:
	case f.own:
		b.own.bytes -= f.cost()
	default:
		b.room.bytes -= f.cost()
	}
}
