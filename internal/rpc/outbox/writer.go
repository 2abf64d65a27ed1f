package outbox

import "slices"

const (
	// maxBatch is how many bytes one write carries at most, unless a single message is
	// longer: enough to make the price of a write vanish, little enough that progress can
	// be seen.
	maxBatch = 256 << 10
	// keptQueue is how many places of the queue outlive a burst.
	keptQueue = 256
)

// Write makes the caller the writer that Push has asked for. It returns when the queue is
// empty or the stream is broken.
func (b *Box) Write() {
	for {
		batch := b.take()
		if batch == nil {
			return
		}
		err := b.sender.send(batch)
		if err == nil && slices.ContainsFunc(batch, (*Frame).isAwaited) {
			b.cfg.Features.Hasten()
		}
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
	if len(b.queue) == 0 || b.dead {
		b.stopLocked()
		return nil
	}
	n, size := 1, b.queue[0].size()
	for n < len(b.queue) && size+b.queue[n].size() <= maxBatch {
		size += b.queue[n].size()
		n++
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

// written accounts for a batch that was written, or never will be, and with nil for one
// message while others of its batch are not written.
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
