package outbox

import (
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/stream"
)

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

// sender passes batches to the stream. It is the writer's alone.
type sender struct {
	cfg   *Config
	msgs  [][]byte
	wrote func() // called for a message of a batch of which others are not written
}

// send writes a batch. What the stream refuses is left out.
func (s *sender) send(batch []*Frame) error {
	if s.cfg.Features.WriteBatch != nil && s.cfg.Features.WriteMessage == nil && (len(batch) > 1 || batch[0].cancels != nil) {
		all := s.msgs[:0]
		for _, f := range batch {
			if f.cancels == nil {
				all = append(all, f.Data)
			} else {
				all = appendCancels(all, f.cancels)
			}
		}
		err := s.cfg.Features.WriteBatch(all)
		clear(all)
		s.msgs = all[:0]
		if cap(all) > keptQueue {
			s.msgs = nil
		}
		if !isRefusal(err) {
			return err
		}
	}
	for i, f := range batch {
		if f.cancels == nil {
			if err := s.sendOne(f, f.Message); err != nil {
				return err
			}
		}
		for _, call := range f.cancels {
			if err := s.sendOne(f, cancelMessage(call)); err != nil {
				return err
			}
			s.wrote()
		}
		if i < len(batch)-1 {
			s.wrote()
		}
	}
	return nil
}

// sendOne writes one message of the frame f.
func (s *sender) sendOne(f *Frame, m stream.Message) (err error) {
	if s.cfg.Features.WriteMessage != nil {
		err = s.cfg.Features.WriteMessage(m)
	} else {
		err = s.cfg.Stream.Write(m.Data)
	}
	if isRefusal(err) {
		s.cfg.Refused(f, err)
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
