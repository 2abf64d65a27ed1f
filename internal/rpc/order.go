package rpc

// work is the queue's worker: it does what waits, one after the other.
func (c *Conn) work() {
	in := &c.in
	finished := false
	defer func() {
		if finished {
			return
		}
		// A handler ended its goroutine by runtime.Goexit; the queue goes on.
		in.mu.Lock()
		in.handling = nil
		in.mu.Unlock()
		go c.work() // as above
	}()
	in.mu.Lock()
	for in.queue.len() > 0 {
		it := in.queue.pop()
		switch it.kind {
		case itemNote:
			in.backlog -= it.size
			in.pressureLocked(c.limits.Backlog)
			s := &scope{parent: c.life, conn: c, method: it.method(), size: it.size, up: c.up}
			in.handling = s
			if in.slowArms && in.slowFor == nil {
				in.slowFor = s
			}
			in.mu.Unlock()
			c.handleNote(s, &it)
			in.mu.Lock()
			in.handling = nil
		case itemRequest:
			if r := it.what.(*request); r.state == requestQueued { // else it was started out of turn
				in.behind[0] = nil
				in.behind = in.behind[1:]
				c.startLocked(r, c.up)
			}
		case itemResponse:
			in.mu.Unlock()
			c.deliver(it.what.(*call))
			in.mu.Lock()
		case itemEnd:
			in.mu.Unlock()
			c.failCalls(closed(c.cause()), func(*call) bool { return true })
			in.mu.Lock()
		}
	}
	in.working = false
	in.signalIdleLocked()
	in.mu.Unlock()
	finished = true
}

// noteEnters: a Conn method begins inside the notification handler s. While it
// lasts nothing waits for the handler that the peer may need for its answer.
func (c *Conn) noteEnters(s *scope) {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	s.inside++
	if in.handling != s || s.inside > 1 {
		return
	}
	behind := in.behind
	in.behind = nil
	for _, r := range behind {
		c.startLocked(r, s)
	}
	in.wakeReaderLocked()
}

func (c *Conn) noteLeaves(s *scope) {
	c.in.mu.Lock()
	s.inside--
	c.in.mu.Unlock()
}

// placeResponse delivers an answer at its place in the order. Only the reader
// calls it, so nothing that was read later can be ahead.
func (c *Conn) placeResponse(k *call) {
	in := &c.in
	in.mu.Lock()
	if in.working && !in.stopped {
		c.enqueueLocked(item{kind: itemResponse, what: k})
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	c.deliver(k)
}

// enqueueResponse delivers something at the end of the queue.
func (c *Conn) enqueueResponse(k *call) {
	in := &c.in
	in.mu.Lock()
	if !in.stopped {
		c.enqueueLocked(item{kind: itemResponse, what: k})
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	c.deliver(k)
}
