package order

import "sync"

// The states of a request of the peer:
//
//	held       the handshake before it is not over: Open lets it go on
//	queued     notifications before it are not handled: the worker reaches its place,
//	           or one of their handlers waits for the peer
//	waiting    all slots are taken, or too many responses wait for room
//	running    Handler.Serve: its handler runs
//	responding the handler has returned; its response is encoded, and waits for room
//	done       the response has its room, or never will have it; the id is free
type state uint8

const (
	held state = iota
	queued
	waiting
	running
	responding
	done
)

// Ended tells what has ended a ctx early.
type Ended uint8

const (
	ByNone  Ended = iota
	ByPeer        // Cancel
	ByGroup       // a message that ends its group; it prevails
)

// Handler is a request of the peer. It embeds a [Request] and a [Scope].
type Handler interface {
	Scoped
	request() *Request
	// Serve handles the request. No other request waits for it. under is the notification
	// during whose handler it was started; nil: it has waited for its turn.
	Serve(under Scoped)
	// End ends the ctx of the handler. It is called with the lock held.
	End(by Ended)
}

// Request is the part of a request of the peer that the order needs.
type Request struct {
	ID     string // as the peer wrote it
	Key    string // equal for equal ids
	Bad    bool   // it may not have such an id
	Inside bool   // a notification handler of another connection may wait for its handler
	Waits  bool   // its handler needs no slot: it waits for people, for processes or for the peer
	Group  string // it belongs to; empty: none
	Ends   *Ends  // nil: it ends no group
	Others int    // the requests that are open beside it; set by Advance(Responded)

	order  *Order
	do     Handler
	member *member // nil: it belongs to no group

	handshake bool // its response opens the connection; set before it is started
	state     state
	endedBy   Ended
	slot      bool          // it has a slot
	over      bool          // nothing runs for it
	released  bool          // Release was called
	worked    bool          // its handler has begun work that is not in the background
	under     Scoped        // the notification during whose handler it starts
	passed    chan struct{} // closed when its response is queued, or its handler waits for something else
	task      node
	next      *Request // see servers
}

// member is the place of a request in its group.
type member struct {
	node
	called    chan struct{} // closed when its handler is called or was given up
	once      sync.Once     // closes called
	responded chan struct{} // closed when its response is queued; nil while no one waits for that
}

func (r *Request) request() *Request { return r }

// Title implements [Subject]: only a request that waits for its turn is of interest.
func (r *Request) Title() string {
	if r.state != queued {
		return ""
	}
	return r.do.scope().Method
}

// Opens reports whether the request is the handshake that opens the connection.
func (r *Request) Opens() bool { return r.handshake }

// Called records that the handler is being called, or that it was given up.
func (r *Request) Called() {
	if m := r.member; m != nil {
		m.once.Do(func() { close(m.called) })
	}
}

// Step is a step in the handling of a request.
type Step uint8

const (
	Returned  Step = iota // its handler has returned
	Responded             // its response has room in the outgoing queue, or never will: the id is free
	Queued                // its response is in the outgoing queue: handlers that wait for it may send
	Over                  // nothing runs for it
)

// Advance records a step of a request that is served. It returns what has ended the handler's ctx
// early.
func (r *Request) Advance(step Step) Ended {
	o := r.order
	o.mu.Lock()
	defer o.mu.Unlock()
	switch step {
	case Returned:
		if r.state == running {
			r.state = responding
		}
	case Responded:
		o.pending.free(r)
		r.Others = len(o.pending.byKey)
	case Queued:
		o.pending.part(r)
		r.passLocked()
	case Over:
		r.over = true
		if o.slots.give(r) {
			o.startWaitingLocked()
		}
		r.task.remove()
		o.idleLocked()
	}
	return r.endedBy
}

// Grow counts bytes that a request holds beyond those of its message.
func (r *Request) Grow(size int64) {
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	r.order.pending.grow(r, size)
}

// Stall records that the response of size bytes waits for room in the outgoing queue, until resume
// is called.
func (r *Request) Stall(size int64) (resume func()) {
	o := r.order
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending.grow(r, size)
	o.slots.stalled++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.slots.stalled--
		o.startWaitingLocked()
	}
}

// Passed returns a channel that is closed when the response to a request is queued, or its
// handler waits for something else than the call that is about to return. It returns nil if
// that is so already.
func (r *Request) Passed() <-chan struct{} {
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	if r.state != running || r.do.scope().inside > 1 || r.released {
		return nil
	}
	if r.passed == nil {
		r.passed = make(chan struct{})
	}
	return r.passed
}

// Release closes what Passed returns, from now on.
func (r *Request) Release() {
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	r.released = true
	r.passLocked()
}

func (r *Request) passLocked() {
	if r.passed != nil {
		close(r.passed)
		r.passed = nil
	}
}

// Earlier returns a channel that is closed when the nearest request in front of r in its group
// has been responded to, or nil if there is none.
func (r *Request) Earlier() <-chan struct{} {
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	if r.member == nil {
		return nil
	}
	for n := r.member.prev; n != nil; n = n.prev {
		if n.work != nil {
			continue
		}
		m := n.request.member
		if m.responded == nil {
			m.responded = make(chan struct{})
		}
		return m.responded
	}
	return nil
}

// Ahead returns how many requests of its group are in front of r: those that were accepted earlier
// and have not been responded to, and those whose work goes on. One that is both counts once, and
// work that is settled or in the background does not.
func (r *Request) Ahead() (count int) {
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	if r.member == nil || r.member.in == nil {
		return 0
	}
	earlier := true
	for n := r.member.in.first; n != nil; n = n.next {
		switch w := n.work; {
		case n == &r.member.node:
			earlier = false
		case w == nil && earlier && !n.request.worked, w != nil && w.By == nil && !w.Background && !w.settled:
			count++
		}
	}
	return count
}

// EndAgain ends the ctx of members that have joined a group since the request that ends the group
// was read.
func (r *Request) EndAgain() {
	if r.Ends == nil {
		return
	}
	r.order.mu.Lock()
	defer r.order.mu.Unlock()
	r.order.pending.endGroup(r.Ends)
}
