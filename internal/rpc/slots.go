package rpc

// startLocked starts a request's handler, or puts it in line when all slots are
// taken. up is the handler it descends from.
func (c *Conn) startLocked(r *request, up *scope) {
	in := &c.in
	r.up = up
	if r.counted && in.slots >= c.limits.MaxHandlers {
		r.state = requestWaiting
		in.line = append(in.line, r)
		return
	}
	c.runLocked(r)
}

func (c *Conn) runLocked(r *request) {
	in := &c.in
	in.waits -= r.size
	in.open += handlerOverhead
	r.state, r.handling = requestRunning, true
	in.linkLocked(r)
	if r.counted {
		r.slot = true
		in.slots++
	}
	go c.serve(r) // ends when the handler has returned and its answer is queued
}

// nextLocked starts those in line for whom there is a slot.
func (c *Conn) nextLocked() {
	in := &c.in
	for len(in.line) > 0 && in.slots < c.limits.MaxHandlers {
		r := in.line[0]
		in.line[0] = nil
		in.line = in.line[1:]
		if r.state == requestWaiting {
			c.runLocked(r)
		} else { // cancelled meanwhile
			in.waits -= r.size
		}
	}
	if len(in.line) == 0 {
		in.line = nil
	}
}

// handlerEnters: a call begins inside a request's handler, which gives its slot away
// meanwhile.
func (c *Conn) handlerEnters(s *scope) {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	s.inside++
	if s.req.slot {
		s.req.slot = false
		in.slots--
		c.nextLocked()
	}
}

// handlerLeaves takes the slot back. It does not wait for a free one: the handler
// may hold what the others need.
func (c *Conn) handlerLeaves(s *scope) {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	s.inside--
	if r := s.req; s.inside == 0 && r.handling {
		r.slot = true
		in.slots++
	}
}

// handlerDone gives the slot up for good.
func (c *Conn) handlerDone(r *request) {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	r.handling = false
	if r.slot {
		r.slot = false
		in.slots--
		c.nextLocked()
	}
	in.unlinkLocked(r)
	in.signalIdleLocked()
}

// linkLocked adds a request to those whose goroutine runs.
func (in *inbound) linkLocked(r *request) {
	if r.next = in.active; r.next != nil {
		r.next.prev = r
	}
	in.active = r
}

func (in *inbound) unlinkLocked(r *request) {
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		in.active = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
}
