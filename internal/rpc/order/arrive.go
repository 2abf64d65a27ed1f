package order

// Kind is the kind of an Item.
type Kind uint8

const (
	Notification Kind = iota
	Dropped           // a notification that came before the handshake
	Delivery          // the place of a response to one of our calls
	Last              // the same; it goes through the queue in any case
	End               // the end of input: nothing was read after it
	request           // the place where a request may start
)

// Item is one place in the order.
type Item struct {
	Kind   Kind
	Size   int64 // bytes that a notification counts
	Params []byte
	What   Subject // a Response for Delivery and Last
	Ends   *Ends   // the group that a notification ends; nil: none
	Opens  bool    // the handshake waits for the response, so that it does not wait for the handshake
}

// Subject describes the content of an Item.
type Subject interface {
	// Title names it in a warning; an empty title is left out. It is called with the lock held.
	Title() string
}

// Response is the subject of a Delivery.
type Response interface {
	Subject
	// Lost records that notifications which were read before the response were dropped. It is
	// called with the lock held.
	Lost()
}

// Ends is the group that a message ends.
type Ends struct {
	Group string
	All   bool // background work ends too
	ended []*Request
}

// AwaitCalled waits until the handlers of the requests that the message has ended were called,
// or done is closed. That does not mean that they have executed a statement: what they register
// may not be found, but their ctx has ended.
func (e *Ends) AwaitCalled(done <-chan struct{}) {
	for _, r := range e.ended {
		select {
		case <-r.member.called:
		case <-done:
		}
	}
}

// A peer's message counts for more than its length, because it takes memory beside it. The
// callers of this package add NotificationOverhead and RequestOverhead to the length.
const (
	NotificationOverhead = 128
	RequestOverhead      = 512

	groupOverhead   = 256     // in addition, for a request that belongs to a group
	handlerOverhead = 8 << 10 // for a request whose handler runs: its goroutine
	pointerSize     = 8
)

// Arrive gives a response or the end of input its place, and reports whether that is here and
// now: the caller then handles it. Behind notifications that the gate holds it is held too. Only the reader may pass a Delivery, so that nothing that was
// read later is before it.
func (o *Order) Arrive(it Item) (now bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if it.Kind == End {
		o.ended = true
		o.given.Signal()
	}
	switch {
	case o.stopped:
		if it.Kind != End {
			response(it, o.lost)
		}
		return true
	case o.gate.notified && !it.Opens:
		o.gate.held = append(o.gate.held, it)
		o.watchLocked()
		return false
	case !o.working && it.Kind != Last:
		return true
	}
	o.pushLocked(it)
	return false
}

// Notify gives a notification its place. If it ends a group, the group ends at once.
func (o *Order) Notify(it Item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notifyLocked(it)
}

func (o *Order) notifyLocked(it Item) {
	switch {
	case o.stopped:
		o.lost = true
		return
	case o.gate.state == gatePending:
		o.addLocked(it.Size, 0)
		o.gate.held, o.gate.notified = append(o.gate.held, it), true
		return
	case o.gate.state == gateClosed:
		it.Kind, it.Params, it.Ends = Dropped, nil, nil
	}
	if e := it.Ends; e != nil {
		e.ended = o.pending.endGroup(e)
		it.Size += pointerSize * int64(len(e.ended))
	}
	o.addLocked(it.Size, 0)
	o.pushLocked(it)
}

// pushLocked puts an item at the end of the queue.
func (o *Order) pushLocked(it Item) {
	o.queue.push(it)
	start := !o.working
	o.working = true
	if it.Kind != Notification && it.Kind != Dropped {
		o.watchLocked()
	}
	if start {
		go o.cfg.Work() // ends when the queue is empty
	}
}

// Accept registers a request and starts it, or gives it its place after the notifications that
// were read before. The caller must respond to a request that is not accepted, except for
// Stopped.
func (o *Order) Accept(h Handler) Reason {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, s := h.request(), h.scope()
	r.do, r.order, s.of = h, o, r
	opens := s.Method == o.cfg.Handshake
	switch {
	case o.stopped:
		return Stopped
	case o.pending.byKey[r.Key] != nil:
		return InUse
	case o.gate.state == gateClosed && !opens:
		return NotOpen
	case o.cfg.First && o.gate.used && opens:
		return TooLate
	case o.refusing:
		return Refusing
	}
	held := o.gate.state == gatePending
	if r.Bad && !held {
		return BadID
	}
	if r.Group != "" {
		r.member = &member{called: make(chan struct{})}
		s.Size += groupOverhead
	}
	startsNow := !held && (!o.working || inside(o.handling)) && o.slots.free(r)
	if o.pending.tooMany(r, startsNow) {
		return TooMany
	}
	o.pending.register(r)
	o.gate.used = o.gate.used || !opens
	if held {
		o.gate.held = append(o.gate.held, Item{Kind: request, What: r})
		return Accepted
	}
	o.placeLocked(r)
	return Accepted
}

// placeLocked starts a registered request or puts it after the notifications that were read
// before it.
func (o *Order) placeLocked(r *Request) {
	r.state = queued
	if e := r.Ends; e != nil {
		e.ended = o.pending.endGroup(e)
		o.pending.charge(r, pointerSize*int64(len(e.ended)))
	}
	if r.member != nil {
		r.member.request = r
		o.pending.join(&r.member.node, r.Group)
	}
	if o.gate.state == gateClosed { // it is the handshake
		o.gate.state, r.handshake = gatePending, true
	}
	switch {
	case !o.working:
		o.startLocked(r)
	case inside(o.handling):
		r.under = o.handling
		o.startLocked(r)
	default:
		o.behind = append(o.behind, r)
		o.pushLocked(Item{Kind: request, What: r})
	}
}

// startLocked starts a request's handler, or puts the request in the queue for a slot.
func (o *Order) startLocked(r *Request) {
	if !o.slots.free(r) {
		r.state = waiting
		o.slots.wait(r)
		return
	}
	o.pending.started(r)
	o.slots.take(r)
	o.serveLocked(r)
}

// startWaitingLocked starts requests that wait while there are slots.
func (o *Order) startWaitingLocked() {
	for r := o.slots.next(); r != nil; r = o.slots.next() {
		o.startOrForgetLocked(r, waiting)
	}
}

// startOrForgetLocked starts a request that is in the state from, and forgets one that was
// cancelled meanwhile.
func (o *Order) startOrForgetLocked(r *Request, from state) {
	if r.state == from {
		o.startLocked(r)
	} else {
		o.pending.forget(r)
	}
}

// Cancel ends the ctx of the request with this key. One that was not started is never started:
// it is returned, and must be responded to. refused are the requests that only waited for it.
func (o *Order) Cancel(key string) (unstarted Handler, refused []Refused) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.pending.byKey[key]
	if r == nil {
		return nil, nil
	}
	if r.endedBy == ByNone {
		r.endedBy = ByPeer
	}
	r.do.End(ByPeer)
	if r.state >= running {
		return nil, nil
	}
	o.pending.remove(r)
	o.pending.empty(r)
	if r.handshake {
		refused = o.openLocked(false)
	}
	o.idleLocked()
	return r.do, refused
}
