package outbox

import (
	"errors"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

const (
	// maxBatch is how many bytes one write carries at most, unless a single message is
	// longer: enough to make the price of a write vanish, little enough that progress can
	// be seen.
	maxBatch = 256 << 10
	// floodLength messages with no more than floodGap for each are a flood, in which
	// floodBatch messages may wait for the writer to begin.
	floodLength = 32
	floodGap    = 20 * time.Microsecond
	floodBatch  = 32
	// restAfter is how long the goroutine that writes stays when it has nothing to do, at
	// least; it is twice as long at most.
	restAfter = time.Second
	// keptQueue is how many places of the queue outlive a burst.
	keptQueue = 256
)

// Start starts the writer that Push has asked for and lets it begin: the caller waits
// until the writer runs, not until anything is written. Without the wait a goroutine that
// computes after it has sent would keep the processor from the writer, if the other
// processors compute too.
//
// The wait has its price, because the peer wakes for each message. So in a flood, many
// messages in a row with no time between them, the caller waits once for floodBatch
// messages.
func (b *Box) Start() {
	b.mu.Lock()
	now := time.Now()
	if now.Sub(b.started) < floodGap*time.Duration(b.since) {
		b.flood += b.since
	} else {
		b.flood = 0
	}
	b.started, b.since = now, 0
	b.called++
	b.callLocked()
	if b.flood < floodLength {
		b.waitBegunLocked()
	}
	b.mu.Unlock()
}

// WaitBegun waits until the writer that was started has begun.
func (b *Box) WaitBegun() {
	b.mu.Lock()
	b.waitBegunLocked()
	b.mu.Unlock()
}

func (b *Box) waitBegunLocked() {
	for n := b.called; b.begun < n && !b.dead; {
		b.begins.Wait()
	}
}

// StartLater starts the writer that Push has asked for without waiting: for a caller that
// is about to wait for something, or that must not wait.
func (b *Box) StartLater() {
	b.mu.Lock()
	b.called++
	b.callLocked()
	b.mu.Unlock()
}

// callLocked wakes the goroutine that writes for those who do not. It stays for a while,
// because its stack is used again.
func (b *Box) callLocked() {
	switch {
	case b.running:
		b.work.Signal()
	case b.dead:
		b.stopLocked()
	default:
		b.running = true
		b.restLocked()
		go b.run() // ends with Abandon, when the stream is broken, or after restAfter
	}
}

// run is the writer each time it is called.
func (b *Box) run() {
	b.mu.Lock()
	for {
		for b.begun == b.called && !b.dead && !b.rested {
			b.work.Wait()
		}
		if b.dead || b.begun == b.called {
			break
		}
		if b.rested { // it was called at the last moment
			b.restLocked()
		}
		b.begun = b.called
		b.mu.Unlock()
		b.begins.Broadcast() // many senders may wait for the same begin
		b.Write()
		b.mu.Lock()
	}
	b.running = false
	if b.begun < b.called {
		b.stopLocked()
	}
	b.endLocked()
	b.mu.Unlock()
}

// restLocked lets the goroutine end when it was not called for as long as restAfter.
func (b *Box) restLocked() {
	b.rested, b.lately = false, b.called
	if b.rest == nil {
		b.rest = time.AfterFunc(restAfter, b.checkRest)
	} else {
		b.rest.Reset(restAfter)
	}
}

func (b *Box) checkRest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.dead || !b.running:
	case b.lately < b.called || b.writing:
		b.restLocked()
	default:
		b.rested = true
		b.work.Signal()
	}
}

// stopLocked: there is no writer.
func (b *Box) stopLocked() {
	b.writing = false
	b.emptyLocked()
	b.endLocked()
}

// Write makes the caller the writer that Push has asked for. It returns when the queue is
// empty or the stream is broken.
func (b *Box) Write() {
	for {
		batch := b.take()
		if batch == nil {
			return
		}
		err := b.send(batch)
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

// send writes a batch. What the stream refuses is left out.
func (b *Box) send(batch []*Frame) error {
	if b.cfg.Features.WriteBatch != nil && b.cfg.Features.WriteMessage == nil && (len(batch) > 1 || batch[0].cancels != nil) {
		all := b.msgs[:0]
		for _, f := range batch {
			if f.cancels == nil {
				all = append(all, f.Data)
			} else {
				all = appendCancels(all, f.cancels)
			}
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
		if f.cancels == nil {
			if err := b.sendOne(f, f.Message); err != nil {
				return err
			}
		}
		for _, call := range f.cancels {
			if err := b.sendOne(f, cancelMessage(call)); err != nil {
				return err
			}
			b.wrote()
		}
		if i < len(batch)-1 {
			b.wrote()
		}
	}
	return nil
}

// sendOne writes one message of the frame f.
func (b *Box) sendOne(f *Frame, m stream.Message) (err error) {
	if b.cfg.Features.WriteMessage != nil {
		err = b.cfg.Features.WriteMessage(m)
	} else {
		err = b.cfg.Stream.Write(m.Data)
	}
	if isRefusal(err) {
		b.cfg.Refused(f, err)
		return nil
	}
	return err
}

// wrote notes that a message was written while others of its batch are not.
func (b *Box) wrote() {
	seen := b.measure()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wroteLocked(seen)
}

func (b *Box) wroteLocked(seen int64) {
	b.ends++
	b.lifted = false
	b.resumeLocked()
	b.stall.progress(seen, b.fullLocked())
}

func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	_, ok := errors.AsType[*stream.MessageError](err)
	return ok
}

// written accounts for a batch that was written, or never will be.
func (b *Box) written(batch []*Frame, err error) {
	for _, f := range batch {
		f.Result.Release()
	}
	seen := b.measure()
	b.mu.Lock()
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
	} else {
		b.giveLocked()
		b.wroteLocked(seen)
	}
	b.mu.Unlock()
}
