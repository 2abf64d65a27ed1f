package rpc

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// keptQueue is how many places of the queue outlive a burst.
const keptQueue = 256

// outbox is the queue of what is to be written. Senders reserve room, encode and
// hand over; one writer, started when there is something to write, takes what is
// there and writes it in one go.
type outbox struct {
	stream stream.Stream
	batch  stream.BatchWriter    // nil when the stream has no batches
	meter  stream.ProgressWriter // nil when the stream does not tell
	limits Limits
	// failed is called once with the error that ends the connection: a write
	// error, or ErrStalled. It must not block.
	failed func(error)
	// refused is told of a message that the stream cannot carry.
	refused func(error)

	mu      sync.Mutex // guards all below
	queue   []*frame
	spare   []*frame
	bytes   int64   // reserved: on the way to the queue, in it, or being written
	own     int64   // the part of it in the reserve, not counted in bytes
	waiting []*room // senders that wait for room, in order
	writing bool    // the writer exists
	closed  error   // no more room is given
	dead    bool    // nothing is written any more
	empty   chan struct{}

	stall    *time.Timer
	full     bool      // somebody had to wait, and nothing was written since, or somebody still waits
	progress time.Time // of the last write that ended, or when the queue became full
	seen     int64     // what the meter said then
}

// room is a sender's place in the line.
type room struct {
	size  int64
	given chan struct{} // closed when the room is the sender's
}

// reserve waits until size bytes may be queued. It fails when ctx ends, and when
// the connection does.
func (o *outbox) reserve(ctx context.Context, size int64) error {
	o.mu.Lock()
	if o.closed != nil {
		o.mu.Unlock()
		return o.closed
	}
	if len(o.waiting) == 0 && o.fitsLocked(size) {
		o.bytes += size
		o.mu.Unlock()
		return nil
	}
	r := &room{size: size, given: make(chan struct{})}
	o.waiting = append(o.waiting, r)
	watched := o.full
	o.mu.Unlock()
	if !watched {
		o.watch()
	}

	select {
	case <-r.given:
	case <-ctx.Done():
		if o.leave(r) {
			return ctx.Err()
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil {
		o.unreserveLocked(size, false)
		return o.closed
	}
	return nil
}

// fitsLocked: a message longer than the whole queue passes when it is alone.
func (o *outbox) fitsLocked(size int64) bool {
	return o.bytes == 0 || o.bytes+size <= o.limits.SendQueue
}

// leave takes r out of the line. It reports false when r has its room already.
func (o *outbox) leave(r *room) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.waiting, r)
	if i < 0 {
		return false
	}
	o.waiting = slices.Delete(o.waiting, i, i+1)
	o.giveLocked() // it may have stood in the way of smaller ones
	return true
}

// giveLocked gives room to those who wait, first come first served. When the
// connection has ended it lets all of them go; they see to it themselves.
func (o *outbox) giveLocked() {
	n := 0
	for _, r := range o.waiting {
		if o.closed == nil && !o.fitsLocked(r.size) {
			break
		}
		o.bytes += r.size
		close(r.given)
		n++
	}
	o.waiting = slices.Delete(o.waiting, 0, n)
}

// reserveOwn takes room for an answer of the connection itself, without waiting.
// When even the reserve is used up the peer does not read, and the connection
// ends.
func (o *outbox) reserveOwn(size int64) bool {
	o.mu.Lock()
	if o.closed != nil {
		o.mu.Unlock()
		return false
	}
	if o.own+size <= o.limits.SendReserve {
		o.own += size
		o.mu.Unlock()
		return true
	}
	o.mu.Unlock()
	o.failed(wire.ErrStalled)
	return false
}

// tryReserveOwn is reserveOwn for what may as well not be sent.
func (o *outbox) tryReserveOwn(size int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil || o.own+size > o.limits.SendReserve {
		return false
	}
	o.own += size
	return true
}

// unreserve gives room back that was not used.
func (o *outbox) unreserve(size int64, own bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unreserveLocked(size, own)
}

func (o *outbox) unreserveLocked(size int64, own bool) {
	if own {
		o.own -= size
	} else {
		o.bytes -= size
	}
	o.giveLocked()
	o.emptyLocked()
}

// close gives no more room. What is queued is still written.
func (o *outbox) close(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed == nil {
		o.closed = err
		if o.stall != nil {
			o.stall.Stop()
		}
		o.giveLocked()
	}
}

// flushed returns a channel that is closed when everything that was reserved has
// been written or given back.
func (o *outbox) flushed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.empty == nil {
		o.empty = make(chan struct{})
		o.emptyLocked()
	}
	return o.empty
}

func (o *outbox) emptyLocked() {
	if o.empty == nil || o.bytes > 0 || o.own > 0 || o.writing {
		return
	}
	select {
	case <-o.empty:
	default:
		close(o.empty)
	}
}

// abandon drops what is left.
func (o *outbox) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropLocked()
}
