package rpc

import (
	"errors"
	"runtime"

	"github.com/acpkit/go-sdk/stream"
)

// maxBatch is how many bytes one write carries at most, unless a single message
// is longer: enough to make the price of a write vanish, little enough that
// progress can be seen.
const maxBatch = 256 << 10

// push queues a frame for which room was reserved.
func (o *outbox) push(f *frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dead {
		o.unreserveLocked(f.cost(), f.own)
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
	// Whoever is about to send too gets his turn first, so that many messages leave in
	// one write. Where nobody is, this costs nothing that can be measured.
	runtime.Gosched()
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
	seen := o.measure()
	o.mu.Lock()
	for _, f := range batch {
		if f.own {
			o.own -= f.cost()
		} else {
			o.bytes -= f.cost()
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
			o.full = len(o.waiting) > 0
			o.progressLocked(seen)
		}
	}
	o.mu.Unlock()
}

// dropLocked forgets the queue. Nothing is written from then on.
func (o *outbox) dropLocked() {
	o.dead = true
	for _, f := range o.queue {
		if f.own {
			o.own -= f.cost()
		} else {
			o.bytes -= f.cost()
		}
	}
	clear(o.queue)
	o.queue = nil
	o.giveLocked()
	o.emptyLocked()
}
