package order

// list is a list of nodes. Removing a node takes constant time.
type list struct{ first, last *node }

// node is the place of a request, or of work, in a list.
type node struct {
	request    *Request // until its response is queued
	work       *Work    // nil: the request itself
	in         *list
	prev, next *node
}

func (l *list) push(n *node) {
	n.in = l
	if n.prev = l.last; n.prev != nil {
		n.prev.next = n
	} else {
		l.first = n
	}
	l.last = n
}

// remove takes n out of its list, if it is in one.
func (n *node) remove() {
	l := n.in
	if l == nil {
		return
	}
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		l.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		l.last = n.prev
	}
	n.in, n.prev, n.next = nil, nil, nil
}

func (n *node) method() string {
	if n.work != nil {
		return n.work.Method
	}
	return n.request.do.scope().Method
}

// A group is a list of requests and of work that a message can end together.

// join makes n the last member of a group.
func (p *pending) join(n *node, group string) {
	l := p.groups[group]
	if l == nil {
		l = &list{}
		p.groups[group] = l
	}
	l.push(n)
}

// leave takes n out of its group, if it is in one.
func (p *pending) leave(n *node, group string) {
	l := n.in
	n.remove()
	if l != nil && l.first == nil {
		delete(p.groups, group)
	}
}

// endGroup ends the ctx of the members of a group, and returns the requests among them. The
// requests end before the work, so that a request which waits for the end of work does not start.
func (p *pending) endGroup(e *Ends) (requests []*Request) {
	l := p.groups[e.Group]
	if l == nil {
		return nil
	}
	for n := l.first; n != nil; n = n.next {
		if n.work == nil && n.request.state != done {
			n.request.endedBy = ByGroup
			n.request.do.End(ByGroup)
			requests = append(requests, n.request)
		}
	}
	for n := l.first; n != nil; n = n.next {
		if n.work != nil && (e.All || !n.work.Background) {
			n.work.End()
		}
	}
	return requests
}

// Work is work that continues beside a handler or after it.
type Work struct {
	Method string // of the handler that has begun it
	// Of is the request that the work belongs to. By is the work that begins this work, or nil if
	// the handler begins it. Work without Of belongs to no request; only its end is waited for.
	Of         *Request
	By         *Work
	Background bool   // only a message that ends all of the group ends the ctx
	End        func() // ends the ctx, with the lock held, because the group was ended

	order        *Order
	size         int64
	over         bool
	settled      bool // nothing waits for it in its group
	member, task node
}

// Begin records that work has begun. It belongs to the group of the request. It reports false if
// the handler has returned, or the work that begins it has ended.
func (o *Order) Begin(w *Work) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.order, w.member.work, w.task.work = o, w, w
	if r := w.Of; r != nil {
		if w.By != nil && w.By.over || w.By == nil && r.state != running {
			return false
		}
		r.worked = r.worked || w.By == nil && !w.Background
		w.size = r.do.scope().Size + handlerOverhead
		o.pending.open += w.size
		if r.Group != "" {
			o.pending.join(&w.member, r.Group)
			if w.By == nil && r.endedBy == ByGroup {
				w.End()
			}
		}
	}
	o.pending.tasks.push(&w.task)
	return true
}

// Settle records that requests of the group no longer wait for the work, although it continues.
func (w *Work) Settle() {
	w.order.mu.Lock()
	defer w.order.mu.Unlock()
	w.settled = true
}

// Over records that the work has ended. Calls after the first do nothing.
func (w *Work) Over() {
	o := w.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.over {
		return
	}
	w.over = true
	o.pending.open -= w.size
	if w.Of != nil {
		o.pending.leave(&w.member, w.Of.Group)
	}
	w.task.remove()
	o.idleLocked()
}
