package outbox

import (
	"sync"
	"time"
)

// restAfter is how long the goroutine that writes stays at least when it has nothing to do;
// it stays twice as long at most. A call takes 7 µs, and 10 µs if each write has a new
// goroutine, with BenchmarkCall of package rpc on two busy cores.
const restAfter = time.Second

// hand is the goroutine that writes for senders that do not. It stays for a while, so that its
// stack is used again. Box.mu guards it.
type hand struct {
	work   sync.Cond // the writer is called, or must end
	begins sync.Cond // a writer that was called has begun

	writing       bool   // there is a writer, or a sender is about to be one
	running       bool   // the goroutine that can be called exists
	called, begun uint64 // how often the writer was called, and has begun
	ended         bool   // it must end
	rest          *time.Timer
	lately        uint64 // called, when rest was set
	rested        bool   // the goroutine was not called for restAfter
}

// next waits until the writer is called. It reports false if the goroutine must end.
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

// stay makes the goroutine end when it is not called for restAfter.
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

// Start starts the writer after Push has returned Begin, and waits until it runs, but not until it
// has written. Without the wait, a sender that continues to compute would keep the writer from its
// processor while the other processors compute too.
func (b *Box) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callLocked()
	for n := b.hand.called; b.hand.begun < n && !b.hand.ended; {
		b.hand.begins.Wait()
	}
}

// StartLater is Start without the wait, for a caller that is about to wait for something else, or
// that must not wait.
func (b *Box) StartLater() {
	b.mu.Lock()
	b.callLocked()
	b.mu.Unlock()
}

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
		if h.rested { // it was called at the last moment
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

func (b *Box) stopLocked() {
	b.hand.writing = false
	b.endLocked()
}
