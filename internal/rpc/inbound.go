package rpc

import (
	"sync"
	"sync/atomic"
)

// inbound decides when what was read is handled. It is called for what happened, and starts
// the goroutines that have something to do by it. Its parts have no lock of their own:
// every decision about the order depends on several of them.
type inbound struct {
	initial   *rows
	handshake string               // the method that opens the connection; empty: none
	first     bool                 // it must come before all other requests, also when it is repeated
	ignores   func(string) bool    // reports whether a notification without a row is of no interest
	serve     func(*request)       // handles a request
	work      func()               // handles what is in the queue
	slow      slowWatch            // names handlers that keep others waiting
	pressed   pressure             // pressed.over may be read without the lock
	rows      atomic.Pointer[rows] // nil while the handshake decides about them; written under mu

	room  sync.Cond // the reader waits here; uses mu
	given sync.Cond // the worker waits here, until updates are given out; uses mu

	mu       sync.Mutex // guards all below, pressed and slow
	order    order
	gate     gate
	pending  pending
	slots    slots
	refusing bool // no new requests are taken
	stopped  bool // nothing more is handled
	ended    bool // nothing more is read
	lost     bool // a notification was dropped because of that
	idle     []chan struct{}
}

func (in *inbound) init(cfg *Config, limits Limits) {
	in.room.L, in.given.L = &in.mu, &in.mu
	in.handshake, in.first = cfg.Handshake, cfg.HandshakeFirst
	in.pressed.budget, in.pressed.most = limits.Backlog, limits.MaxBacklog
	in.slots.limit = limits.MaxHandlers
	in.pending.maxWaiting, in.pending.maxOpen = limits.MaxWaiting, limits.MaxOpen
	in.pending.byID = make(map[string]*request)
	in.pending.groups = make(map[string]*group)
	in.initial = newRows(Version{Entries: cfg.Entries, StrictIDs: cfg.StrictIDs})
	in.rows.Store(in.initial)
	if cfg.Handshake != "" {
		in.gate.state = gateClosed
	}
}

// rows are the methods that this end handles.
type rows struct {
	requests, notifications map[string]*Entry
	strictIDs               bool
}

func newRows(v Version) *rows {
	t := &rows{requests: map[string]*Entry{}, notifications: map[string]*Entry{}, strictIDs: v.StrictIDs}
	for _, e := range v.Entries {
		if e.Notification {
			t.notifications[e.Name] = e
		} else {
			t.requests[e.Name] = e
		}
	}
	return t
}

// refuse takes no new requests.
func (in *inbound) refuse() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.refusing = true
}

// stop drops what was not handled yet. It returns the responses that were read, and how
// many notifications were dropped.
func (in *inbound) stop() (responses []*call, dropped int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stopped = true
	in.lost = in.order.handling != nil || len(in.gate.held) > 0
	for in.order.queue.len() > 0 {
		switch it := in.order.queue.pop(); it.kind {
		case itemResponse:
			it.call.incomplete = in.lost
			responses = append(responses, it.call)
		case itemNotification, itemDropped:
			in.lost = true
			dropped++
			in.addLocked(-it.size, 0)
		}
	}
	for _, it := range in.gate.held {
		if it.kind == itemNotification {
			dropped++
			in.addLocked(-it.size, 0)
		}
	}
	in.gate.held, in.order.behind, in.slots.counted, in.slots.uncounted = nil, nil, nil, nil
	for _, r := range in.pending.byID {
		if r.state < requestRunning {
			in.pending.remove(r)
			r.wasCalled()
		}
	}
	in.slow.stop()
	in.room.Broadcast()
	in.given.Broadcast()
	in.idleLocked()
	return responses, dropped
}

// add counts bytes of updates that are held.
func (in *inbound) add(held int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.addLocked(0, held)
}

func (in *inbound) addLocked(queued, held int64) {
	if in.pressed.add(queued, held) {
		in.room.Signal()
	}
	if held < 0 {
		in.given.Signal()
	}
}

// waitGiven holds the worker back while the updates that were handled and not given out
// exceed the budget by themselves: what is queued is smaller than what it becomes. The
// conditions are those of the reader. After the end of input nothing more can come, so the
// worker goes on.
func (in *inbound) waitGiven() {
	p := &in.pressed
	for !in.stopped && !in.ended && p.held > p.budget && p.lifting == 0 {
		in.given.Wait()
	}
}

// lift makes the reader not pause, n times more.
func (in *inbound) lift(n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pressed.lifting += n
	in.wakeLocked()
	in.given.Signal()
}

func (in *inbound) wakeLocked() {
	if in.pressed.paused {
		in.room.Signal()
	}
}

// waitRoom holds the reader back while too much waits to be handled. It does not while
// something waits for what only the reader can bring, or for the peer, which may do the
// same. It reports whether reading goes on; over means that far too much waits.
func (in *inbound) waitRoom() (goesOn, over bool) {
	if !in.pressed.over.Load() {
		return true, false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	p := &in.pressed
	for !in.stopped && p.total() > p.budget && p.lifting == 0 && !in.order.inside() {
		if in.order.handling != nil {
			in.slow.watchLocked()
		}
		p.paused = true
		in.room.Wait()
		p.paused = false
	}
	return !in.stopped, p.total() > p.most
}

// done returns a channel that is closed when nothing that was read is left to do.
func (in *inbound) done() <-chan struct{} {
	ch := make(chan struct{})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.idle = append(in.idle, ch)
	in.idleLocked()
	return ch
}

func (in *inbound) idleLocked() {
	if len(in.idle) == 0 || in.order.working || in.pending.tasks != nil || len(in.pending.byID) > 0 || len(in.gate.held) > 0 {
		return
	}
	for _, ch := range in.idle {
		close(ch)
	}
	in.idle = nil
}

// stuck names the methods whose handlers still run.
func (in *inbound) stuck() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	methods := in.pending.running()
	if in.order.handling != nil {
		methods = append(methods, shown(in.order.handling.method))
	}
	return names(methods)
}
