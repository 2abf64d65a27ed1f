package outbox

import (
	"sync"
	"time"
)

// What decides speed, measured with BenchmarkNotifications, BenchmarkCall and
// BenchmarkCalls64 of package rpc on two busy cores, the best of six runs.
const (
	// floodLength messages with no more than floodGap for each are a flood, in which
	// floodBatch messages may wait for the writer to begin. A notification takes 1.6 µs, and
	// 1.8 µs if each sender waits.
	floodLength = 32
	floodGap    = 20 * time.Microsecond
	floodBatch  = 32
	// restAfter is how long the goroutine that writes stays when it has nothing to do, at
	// least; it is twice as long at most. A call takes 7 µs, and 10 µs if each write has a new
	// goroutine; of 64 calls at once one takes 6 µs, and 12 µs.
	restAfter = time.Second
)

// hand is the goroutine that writes for those who do not. It stays for a while, because its
// stack is used again. Box.mu guards it.
type hand struct {
	work   sync.Cond // the writer is called, or must end
	begins sync.Cond // a writer that was called has begun

	writing       bool   // there is a writer, or a sender is about to be one
	running       bool   // the goroutine that can be called exists
	called, begun uint64 // how often the writer was called, and has begun
	ended         bool   // it must end
	rest          *time.Timer
	lately        uint64    // called, when rest was set
	rested        bool      // the goroutine may end
	started       time.Time // the last time by Start
	since         int       // frames that were queued since
	flood         int       // frames in a row with hardly any time between them
}

// floods notes a Start, and reports whether it is one of a flood.
func (h *hand) floods() bool {
	now := time.Now()
	if now.Sub(h.started) < floodGap*time.Duration(h.since) {
		h.flood += h.since
	} else {
		h.flood = 0
	}
	h.started, h.since = now, 0
	return h.flood >= floodLength
}

func (h *hand) waitBegun() {
	for n := h.called; h.begun < n && !h.ended; {
		h.begins.Wait()
	}
}

// next waits until the writer is called. It reports false if the goroutine must end. If rested is
// set nevertheless, the writer was called at the last moment.
func (h *hand) next() bool {
	for h.begun == h.called && !h.ended && !h.rested {
		h.work.Wait()
	}
	if h.ended || h.begun == h.called {
		return false
	}
	h.begun = h.called
	return true
}

// stay lets the goroutine end when it was not called for as long as restAfter.
func (h *hand) stay() {
	h.rested, h.lately = false, h.called
	if h.rest == nil {
		h.rest = time.AfterFunc(restAfter, h.check)
	} else {
		h.rest.Reset(restAfter)
	}
}

func (h *hand) check() {
	h.work.L.Lock()
	defer h.work.L.Unlock()
	switch {
	case h.ended || !h.running:
	case h.lately < h.called || h.writing:
		h.stay()
	default:
		h.rested = true
		h.work.Signal()
	}
}

// stop makes the goroutine end.
func (h *hand) stop() {
	h.ended = true
	if h.rest != nil {
		h.rest.Stop()
	}
	h.work.Signal()
	h.begins.Broadcast()
}

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
	floods := b.hand.floods()
	b.callLocked()
	if !floods {
		b.hand.waitBegun()
	}
	b.mu.Unlock()
}

// WaitBegun waits until the writer that was started has begun.
func (b *Box) WaitBegun() {
	b.mu.Lock()
	b.hand.waitBegun()
	b.mu.Unlock()
}

// StartLater starts the writer that Push has asked for without waiting: for a caller that
// is about to wait for something, or that must not wait.
func (b *Box) StartLater() {
	b.mu.Lock()
	b.callLocked()
	b.mu.Unlock()
}

// callLocked calls the goroutine that writes.
func (b *Box) callLocked() {
	h := &b.hand
	h.called++
	switch {
	case h.running:
		h.work.Signal()
	case b.dead:
		b.stopLocked()
	default:
		h.running = true
		h.stay()
		go b.run() // ends with Abandon, when the stream is broken, or after restAfter
	}
}

// run is the writer each time it is called.
func (b *Box) run() {
	h := &b.hand
	b.mu.Lock()
	for h.next() {
		if h.rested {
			h.stay()
		}
		b.mu.Unlock()
		h.begins.Broadcast() // many senders may wait for the same begin
		b.Write()
		b.mu.Lock()
	}
	h.running = false
	if h.begun < h.called {
		b.stopLocked()
	}
	b.endLocked()
	b.mu.Unlock()
}

// stopLocked: there is no writer.
func (b *Box) stopLocked() {
	b.hand.writing = false
	b.endLocked()
}
