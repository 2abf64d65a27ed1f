package outbox

import (
	"errors"
	"runtime"

	"github.com/acpkit/go-sdk/stream"
)

const (
	// maxBatch is how many bytes one write carries at most, unless a single message is longer.
	// A stall is noticed by writes, so they must not be too long.
	maxBatch = 256 << 10
	// fewFrames is how many frames a batch may have by chance. After a larger one the writer lets
	// the senders go first: where all processors compute that may take 10 ms for each batch.
	fewFrames = 4
	// crowdLasts is how many small batches in a row it takes until the writer no longer lets the
	// senders go first. With 1, the messages of a sender that sends many and waits for the peer now
	// and then are written one by one after each wait: an update then takes 2.1 µs, with 4 it takes
	// 1.0 µs (updates-synced of internal/bench in one process).
	crowdLasts = 4
	// keptQueue is the largest capacity of a queue that is used again.
	keptQueue = 256
)

// Write makes the caller the writer after Push has returned Begin. It returns when the queue is
// empty or the stream is broken.
func (b *Box) Write() {
	for {
		batch := b.take()
		if batch == nil {
			return
		}
		err := b.send(batch)
		b.written(batch, err)
		if err != nil {
			b.cfg.Failed(err)
		}
	}
}

// take returns what is written next, or nil when the writer's work is done.
func (b *Box) take() []*Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.crowd > 0 || len(b.queue) > 0 && b.queue[0].Crowd {
		// Senders that are about to queue more run first. One write then carries the frames of
		// all of them, and the peer wakes once.
		b.mu.Unlock()
		runtime.Gosched()
		b.mu.Lock()
	}
	if len(b.queue) == 0 || b.dead {
		b.stopLocked()
		return nil
	}
	n, size := 1, len(b.queue[0].Data)
	for n < len(b.queue) && size+len(b.queue[n].Data) <= maxBatch {
		size += len(b.queue[n].Data)
		n++
	}
	if b.crowd = max(b.crowd-1, 0); n > fewFrames || b.queue[0].Crowd {
		b.crowd = crowdLasts
	}
	batch := b.queue[:n:n] // the capacity ends where the next batch begins
	if n == len(b.queue) {
		batch = b.queue
		b.queue, b.spare = b.spare[:0], nil
	} else {
		b.queue = b.queue[n:]
	}
	return batch
}

// written returns the room that a batch used when it was written or has failed. batch is nil for a
// message whose batch continues.
func (b *Box) written(batch []*Frame, err error) {
	for _, f := range batch {
		f.Result.Release()
	}
	seen := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range batch {
		b.settleLocked(f)
		f.Free()
	}
	clear(batch)
	if b.spare == nil && cap(batch) <= keptQueue {
		b.spare = batch[:0]
	}
	if err != nil {
		b.dropLocked()
		return
	}
	b.room.give()
	b.ends++
	b.own.lifted = false
	b.own.resume()
	b.stall.progress(seen, b.fullLocked())
}

// send writes a batch. A message that the stream refuses is left out.
func (b *Box) send(batch []*Frame) error {
	if b.cfg.Features.WriteBatch != nil && b.cfg.Features.WriteMessage == nil && len(batch) > 1 {
		all := b.msgs[:0]
		for _, f := range batch {
			all = append(all, f.Data)
		}
		err := b.cfg.Features.WriteBatch(all)
		clear(all)
		b.msgs = all[:0]
		if cap(all) > keptQueue {
			b.msgs = nil
		}
		if !isRefusal(err) {
			return err
		}
	}
	for i, f := range batch {
		if err := b.sendOne(f); err != nil {
			return err
		}
		if i < len(batch)-1 {
			b.written(nil, nil)
		}
	}
	return nil
}

func (b *Box) sendOne(f *Frame) (err error) {
	if b.cfg.Features.WriteMessage != nil {
		err = b.cfg.Features.WriteMessage(f.Message)
	} else {
		err = b.cfg.Write(f.Data)
	}
	if isRefusal(err) {
		b.cfg.Refused(f, err)
		return nil
	}
	return err
}

func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	_, ok := errors.AsType[*stream.MessageError](err)
	return ok
}
