package order

import "time"

// Scope is the part of a handler's ctx that the order needs. The ctx embeds it.
type Scope struct {
	Method string // of a notification it is set by Next
	Size   int64  // memory of the message; likewise

	inside int      // the methods that wait with the ctx, or with one that descends from it
	of     *Request // whose handler has the ctx; nil: a notification's
}

func (s *Scope) scope() *Scope { return s }

// Scoped is a value that embeds a Scope.
type Scoped interface{ scope() *Scope }

// inside reports whether a handler, or nil, waits for the peer.
func inside(h Scoped) bool { return h != nil && h.scope().inside > 0 }

// Next returns what is to be handled next. The notification that was handled before is over; s
// becomes the scope of this one. It returns false when the queue is empty: the worker then ends.
// If only is set, it returns only a response, and false for anything else: the worker then goes
// on.
func (o *Order) Next(s Scoped, only bool) (Item, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if only && (o.queue.len() == 0 || o.queue.peek().Kind != Delivery && o.queue.peek().Kind != Last) {
		return Item{}, false
	}
	o.handling = nil
	for o.queue.len() > 0 {
		if p := &o.pressed; o.queue.peek().Kind == Notification && !o.ended && p.held > p.budget && p.lifting == 0 {
			// The updates that were handled and not given out exceed the budget by themselves:
			// what is queued is smaller than what it becomes. The other conditions are those of
			// the reader. After the end of input nothing more comes.
			o.given.Wait()
			continue // it may have been dropped
		}
		it := o.queue.pop()
		switch it.Kind {
		case request:
			if r, _ := it.What.(*Request); len(o.behind) > 0 && o.behind[0] == r { // else it was started out of turn
				o.behind[0] = nil
				o.behind = o.behind[1:]
				o.startOrForgetLocked(r, queued)
			}
			continue
		case Notification, Dropped:
			o.addLocked(-it.Size, 0)
			next := s.scope()
			next.Method, next.Size = it.What.Title(), it.Size
			o.handling = s
			if o.slow.armed && o.slow.of == nil {
				o.slow.of = s
			}
		}
		return it, true
	}
	o.working = false
	o.idleLocked()
	return Item{}, false
}

// idleLocked lets those go on that wait until nothing is left to do.
func (o *Order) idleLocked() {
	if len(o.idle) == 0 || o.working || len(o.gate.held) > 0 || !o.pending.none() {
		return
	}
	for _, ch := range o.idle {
		close(ch)
	}
	o.idle = nil
}

// Enter notes that a method begins to wait for the peer with the ctx of a handler. Requests
// that were read behind a notification start meanwhile, because the peer may need them for its
// response. The handler of a request needs no slot meanwhile.
func (o *Order) Enter(h Scoped) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := h.scope()
	s.inside++
	switch {
	case s.of != nil:
		s.of.passLocked()
		if o.slots.give(s.of) {
			o.startWaitingLocked()
		}
	case o.handling == h && s.inside == 1:
		behind := o.behind
		o.behind = nil
		for _, r := range behind {
			if r.state == queued {
				r.under = h
			}
			o.startOrForgetLocked(r, queued)
		}
		o.room.Signal()
	}
}

// Leave undoes Enter. The handler of a request takes its slot back. It does not wait for a free
// one: it may hold what the others need.
func (o *Order) Leave(h Scoped) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := h.scope()
	s.inside--
	if r := s.of; r != nil && s.inside == 0 && !r.over {
		o.slots.take(r)
	}
}

// Resume starts requests that waited until fewer results were in flight.
func (o *Order) Resume() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startWaitingLocked()
}

// slow names a notification handler that keeps others waiting for long.
type slow struct {
	timer *time.Timer
	armed bool
	of    Scoped // the notification whose handler ran when the timer was set, or the next one
}

func (w *slow) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// watchLocked notes that something waits for the handler that runs.
func (o *Order) watchLocked() {
	w := &o.slow
	if w.armed || o.stopped {
		return
	}
	w.armed, w.of = true, o.handling
	if w.timer == nil {
		w.timer = time.AfterFunc(o.cfg.SlowAfter, o.checkSlow)
	} else {
		w.timer.Reset(o.cfg.SlowAfter)
	}
}

// checkSlow names the handler that runs if something has waited for it all the time.
func (o *Order) checkSlow() {
	o.mu.Lock()
	w, before, handler := &o.slow, o.slow.of, o.handling
	w.armed, w.of = false, nil
	waits, paused := "", o.pressed.paused
	for it := range o.queue.all() {
		if it.Kind != Notification && it.Kind != Dropped && it.Kind != End {
			if waits = it.What.Title(); waits != "" {
				break
			}
		}
	}
	slow := handler != nil && (waits != "" || paused) && !o.stopped
	if slow && (handler != before || inside(handler)) { // not for it, or not for long
		o.watchLocked()
		slow = false
	}
	o.mu.Unlock()
	if slow && waits == "" {
		waits = o.cfg.Call()
	}
	if slow && waits != "" {
		o.cfg.Slow(handler.scope().Method, waits)
	}
}
