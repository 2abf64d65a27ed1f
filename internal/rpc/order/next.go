package order

import (
	"iter"
	"time"
)

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

// Next returns the next item to handle. By calling it, the worker reports that the previous
// notification was handled; s becomes the scope of this one. It returns false when the queue is
// empty: the worker then ends. If only is set, it returns a response, or false if the next item is
// something else: the worker then continues.
func (o *Order) Next(s Scoped, only bool) (Item, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if only && (o.queue.n == 0 || o.queue.peek().Kind != Delivery && o.queue.peek().Kind != Last) {
		return Item{}, false
	}
	o.handling = nil
	for o.queue.n > 0 {
		if p := &o.pressed; o.queue.peek().Kind == Notification && !o.ended && p.held > p.budget && !p.lifted {
			// The updates that were handled and not delivered exceed the budget by themselves:
			// queued messages are smaller than the decoded ones. The other conditions are those of
			// the reader. After the end of input nothing more arrives.
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

// idleLocked wakes the goroutines that wait until nothing is left to do.
func (o *Order) idleLocked() {
	if len(o.idle) == 0 || o.working || len(o.gate.held) > 0 || !o.pending.none() {
		return
	}
	for _, ch := range o.idle {
		close(ch)
	}
	o.idle = nil
}

// Enter records that a method begins to wait for the peer with the ctx of a handler. Requests that
// were read after a notification start meanwhile, because the peer may need them for its response.
// The handler of a request needs no slot meanwhile.
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

// Leave reverses Enter. The handler of a request takes its slot back. It does not wait for a free
// slot, because it may hold something that the other handlers need.
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

// slow finds a notification handler that delays other messages for long.
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

// watchLocked records that something waits for the handler that runs.
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

// checkSlow reports the handler that runs if something has waited for it all the time, and the handshake if
// a response waits for its end.
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
	opening := o.awaitsOpeningLocked()
	o.mu.Unlock()
	if slow && waits == "" {
		waits = o.cfg.Call()
	}
	if slow && waits != "" {
		o.cfg.Slow(handler.scope().Method, waits)
	}
	if opening != "" {
		o.cfg.Slow(o.cfg.Handshake, opening)
	}
}

// queue is a first-in first-out list of blocks. It needs no more memory than its items, and frees
// memory when it gets shorter.
type queue struct {
	first, last *block
	head, tail  int // the first item in first, the first free place in last
	spare       *block
	n           int
}

// block has a size that suits both an idle connection and a flood of messages.
type block struct {
	items [32]Item
	next  *block
}

func (q *queue) push(it Item) {
	if q.last == nil || q.tail == len(q.last.items) {
		b := q.spare
		if q.spare = nil; b == nil {
			b = new(block)
		}
		if q.last == nil {
			q.first, q.head = b, 0
		} else {
			q.last.next = b
		}
		q.last, q.tail = b, 0
	}
	q.last.items[q.tail] = it
	q.tail++
	q.n++
}

// peek returns the first item of a queue that is not empty.
func (q *queue) peek() *Item { return &q.first.items[q.head] }

// pop takes the first item out of a queue that is not empty.
func (q *queue) pop() Item {
	b := q.first
	it := b.items[q.head]
	b.items[q.head] = Item{}
	q.head++
	q.n--
	if q.n == 0 || q.head == len(b.items) {
		if q.first, q.head = b.next, 0; q.first == nil {
			q.last = nil
		}
		b.next, q.spare = nil, b
	}
	return it
}

// all goes through the items in their order.
func (q *queue) all() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		at := q.head
		for b := q.first; b != nil; b = b.next {
			end := len(b.items)
			if b == q.last {
				end = q.tail
			}
			for ; at < end; at++ {
				if !yield(&b.items[at]) {
					return
				}
			}
			at = 0
		}
	}
}
