package rpc

import "time"

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

// watchSlowLocked sees to it that a handler that keeps others waiting for long is
// named in the log.
func (c *Conn) watchSlowLocked() {
	in := &c.in
	if in.slowArms || in.stopped {
		return
	}
	in.slowArms, in.slowFor = true, in.handling
	if in.slow == nil {
		in.slow = time.AfterFunc(c.limits.SlowHandler, c.checkSlow)
	} else {
		in.slow.Reset(c.limits.SlowHandler)
	}
}

func (c *Conn) checkSlow() {
	in := &c.in
	in.mu.Lock()
	in.slowArms = false
	h := in.handling
	waiting := c.firstWaitingLocked()
	if h == nil || waiting == "" || in.stopped {
		in.mu.Unlock()
		return
	}
	if h != in.slowFor || h.inside > 0 {
		c.watchSlowLocked()
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	c.log.Warn("acp: a notification handler keeps a call or request waiting; if the handler waits for it, pass it the handler's ctx",
		"handler", h.method, "waiting", shown(waiting), "for", c.limits.SlowHandler)
}

// firstWaitingLocked names what waits for the notification handler that runs.
func (c *Conn) firstWaitingLocked() string {
	for it := range c.in.queue.all() {
		switch what := it.what.(type) {
		case *call:
			if what.id > 0 { // else somebody only wants to know the place
				return what.method
			}
		case *request:
			if what.state == requestQueued {
				return what.method
			}
		}
	}
	if !c.in.paused {
		return ""
	}
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	for _, k := range c.calls.pending {
		return k.method
	}
	return ""
}
