package rpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// maxBatch is how many bytes one write carries at most, unless a single message
// is longer: enough to make the price of a write vanish, little enough that
// progress can be seen.
const maxBatch = 256 << 10

// keptQueue is how many places of the queue outlive a burst.
const keptQueue = 256

// outbox is the queue of what is to be written. Senders reserve room, encode and
// hand over; one writer, started when there is something to write, takes what is
// there and writes it in one go.
type outbox struct {
	stream stream.Stream
	batch  stream.BatchWriter // nil when the stream has no batches
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
	o.watchLocked()
	o.mu.Unlock()

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

// push queues a frame for which room was reserved.
func (o *outbox) push(f *frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dead {
		o.unreserveLocked(int64(len(f.b)), f.own)
		return
	}
	o.queue = append(o.queue, f)
	if o.writing {
		return
	}
	o.writing = true
	if f.claim != nil {
		*f.claim = true
		return
	}
	go o.write() // ends when the queue is empty or the stream is broken
}

// write is the writer.
func (o *outbox) write() {
	var msgs [][]byte
	for {
		batch := o.take()
		if batch == nil {
			return
		}
		msgs = msgs[:0]
		for _, f := range batch {
			msgs = append(msgs, f.b)
		}
		err := o.send(msgs)
		clear(msgs)
		o.written(batch, err)
		if err != nil {
			o.failed(err)
		}
	}
}

// take returns what is written next, or nil when the writer's work is done.
func (o *outbox) take() []*frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.dead {
		o.writing = false
		o.emptyLocked()
		return nil
	}
	n, size := 1, len(o.queue[0].b)
	for n < len(o.queue) && size+len(o.queue[n].b) <= maxBatch {
		size += len(o.queue[n].b)
		n++
	}
	batch := o.queue[:n:n] // the capacity ends where the next batch begins
	if n == len(o.queue) {
		batch = o.queue
		o.queue, o.spare = o.spare[:0], nil
	} else {
		o.queue = o.queue[n:]
	}
	return batch
}

// send writes messages. One that the stream cannot carry is left out.
func (o *outbox) send(msgs [][]byte) error {
	if o.batch != nil && len(msgs) > 1 {
		err := o.batch.WriteBatch(msgs)
		var refused *stream.MessageError
		if !errors.As(err, &refused) {
			return err
		}
	}
	for _, msg := range msgs {
		if err := o.stream.Write(msg); err != nil {
			var refused *stream.MessageError
			if !errors.As(err, &refused) {
				return err
			}
			o.refused(err)
		}
	}
	return nil
}

// written accounts for a batch that has left, or never will.
func (o *outbox) written(batch []*frame, err error) {
	o.mu.Lock()
	for _, f := range batch {
		if size := int64(len(f.b)); f.own {
			o.own -= size
		} else {
			o.bytes -= size
		}
		f.free()
	}
	clear(batch)
	if o.spare == nil && cap(batch) <= keptQueue {
		o.spare = batch[:0]
	}
	if err != nil {
		o.dropLocked()
	} else {
		o.giveLocked()
		if o.full {
			o.full, o.progress = len(o.waiting) > 0, time.Now()
		}
	}
	o.mu.Unlock()
}

// dropLocked forgets the queue. Nothing is written from then on.
func (o *outbox) dropLocked() {
	o.dead = true
	for _, f := range o.queue {
		if size := int64(len(f.b)); f.own {
			o.own -= size
		} else {
			o.bytes -= size
		}
	}
	clear(o.queue)
	o.queue = nil
	o.giveLocked()
	o.emptyLocked()
}

// watchLocked sees to it that a queue that stays full ends the connection.
func (o *outbox) watchLocked() {
	if o.full {
		return
	}
	o.full, o.progress = true, time.Now()
	if o.stall == nil {
		o.stall = time.AfterFunc(o.limits.StallTimeout, o.checkStall)
	} else {
		o.stall.Reset(o.limits.StallTimeout)
	}
}

func (o *outbox) checkStall() {
	o.mu.Lock()
	if o.closed != nil || !o.full {
		o.mu.Unlock()
		return
	}
	if idle := time.Since(o.progress); idle < o.limits.StallTimeout {
		o.stall.Reset(o.limits.StallTimeout - idle)
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	o.failed(wire.ErrStalled)
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
