package rpc

// worker handles what is in the queue, one after the other. It is a goroutine while there
// is something; one at a time, so what it has needs no lock.
type worker struct {
	c       *Conn
	relayed relays
	fresh   *scope // of the next notification; nil while one has it
}

func (w *worker) run() {
	finished := false
	defer func() {
		if !finished { // a handler ended its goroutine by runtime.Goexit; the queue goes on
			go w.run() // ends when the queue is empty
		}
	}()
	c := w.c
	for {
		if len(w.relayed) > 0 && !c.in.respondsNext() {
			w.relayed.wait(c.end.hurry)
		}
		if w.fresh == nil {
			w.fresh = w.scope()
		}
		s := w.fresh
		it, ok := c.in.next(s)
		if !ok {
			finished = true
			return
		}
		switch it.kind {
		case itemNotification, itemDropped:
			w.fresh = nil
			c.handlers.notification(s, &it)
		case itemResponse:
			if it.call.relays != nil {
				w.relayed.add(it.call)
			}
			c.calls.deliver(it.call)
		case itemEnd:
			c.calls.fail(closed(c.end.cause()), every)
		}
	}
}

// scope makes the ctx of a notification handler.
func (w *worker) scope() *scope { return &scope{parent: w.c.life, conn: w.c, up: w.c.up} }

// next takes what is to be handled next out of the queue. The notification that was
// handled before is over; s becomes the scope of this one. It returns false when the
// queue is empty: the worker then ends.
func (in *inbound) next(s *scope) (item, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.order.handling = nil
	for in.order.queue.len() > 0 {
		if in.order.queue.peek().kind == itemNotification {
			if in.waitGiven(); in.order.queue.len() == 0 { // dropped meanwhile
				break
			}
		}
		it, inTurn := in.order.pop()
		switch it.kind {
		case itemRequest:
			if !inTurn { // it has already started
				continue
			}
			if it.request.state == requestQueued {
				in.startLocked(it.request)
			} else { // cancelled meanwhile
				in.pending.forget(it.request)
			}
			continue
		case itemNotification, itemDropped:
			in.addLocked(-it.size, 0)
			s.method, s.size = it.method(), it.size
			in.order.handling = s
			in.slow.handles()
		}
		return it, true
	}
	in.order.working = false
	in.idleLocked()
	return item{}, false
}

// respondsNext reports whether the next item is a response.
func (in *inbound) respondsNext() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.order.queue.len() > 0 && in.order.queue.peek().kind == itemResponse
}

// notificationEnters: the handler of a notification begins to wait in a Conn method.
// While it lasts nothing waits for the handler that the peer may need for its response.
func (in *inbound) notificationEnters(s *scope) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s.inside++
	if in.order.handling != s || s.inside > 1 {
		return
	}
	for _, r := range in.order.takeBehind() {
		if r.state == requestQueued {
			r.up = s
			in.startLocked(r)
		} else {
			in.pending.forget(r)
		}
	}
	in.wakeLocked()
}

func (in *inbound) notificationLeaves(s *scope) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s.inside--
}

// response gives a response its place, and reports whether that is here and now. Only
// the reader calls it, so nothing that was read later can be before it.
func (in *inbound) response(k *call) (now bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.stopped {
		k.incomplete = in.lost
		return true
	}
	if !in.order.working && k.relays == nil {
		return true
	}
	in.pushLocked(item{kind: itemResponse, call: k})
	return false
}

// last puts something at the end of the queue, and reports whether that is here and now.
func (in *inbound) last(it item) (now bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if it.kind == itemEnd {
		in.ended = true
		in.given.Signal()
	}
	if in.stopped || it.kind == itemEnd && !in.order.working {
		return true
	}
	in.pushLocked(it)
	return false
}
