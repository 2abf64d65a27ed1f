package rpc

import (
	"slices"
)

// What a message counts for beyond its length, because it takes memory beside it.
const (
	notificationOverhead = 128
	requestOverhead      = 512
	groupOverhead        = 256 // in addition, for one that belongs to a group
	// handlerOverhead is for a request whose handler runs: its goroutine.
	handlerOverhead = 8 << 10
	pointerSize     = 8
)

// keptMap is how many entries a map may have had to be kept when it is empty: maps
// do not shrink.
const keptMap = 1024

// pending are the requests whose response is not queued yet, the work that outlives
// its response, and the goroutines that run code of the user for them. Guarded by the
// lock of inbound.
type pending struct {
	maxWaiting, maxOpen int64

	byID    map[string]*request
	most    int // how many there were at once
	groups  map[string]*group
	waiting int64 // bytes of the requests that were not started yet
	open    int64 // bytes of all of them
	tasks   *task // a list of what runs
}

// group are the requests and the work that a message can end together.
type group struct{ first, last *member }

// member is a request, until its response is queued, or work that outlives it.
type member struct {
	key        string // of the group
	request    *request
	work       *Work // nil: the request itself
	prev, next *member
}

// task is code of the user that runs.
type task struct {
	method     string
	prev, next *task
}

// tooMany reports whether there is no room for one more request: for one that would
// have to wait, or for any at all. Questions to the user and their like, which may
// stay open for hours, leave a rest to the others.
func (p *pending) tooMany(r *request, startsNow bool) bool {
	room := p.maxOpen
	if r.counted() {
		room += p.maxWaiting
	}
	if p.open > 0 && p.open+r.size+handlerOverhead > room {
		return true
	}
	return !startsNow && p.waiting+r.size > p.maxWaiting
}

// register makes the request one that waits to be started.
func (p *pending) register(r *request) {
	p.byID[r.key] = r
	p.most = max(p.most, len(p.byID))
	p.charge(r, r.size)
}

// charge counts what an unstarted request holds.
func (p *pending) charge(r *request, size int64) {
	p.waiting += size
	p.open += size
}

// started notes that the request no longer waits.
func (p *pending) started(r *request) {
	p.waiting -= r.size
	p.open += handlerOverhead
	r.state = requestRunning
}

// grow counts bytes that a request holds beyond those of its message.
func (p *pending) grow(r *request, size int64) {
	if r.state != requestDone {
		r.size += size
		p.open += size
	}
}

// remove makes the id of a request free again and takes it out of its group.
func (p *pending) remove(r *request) {
	p.free(r)
	p.part(r)
}

// free makes the id of a request free again.
func (p *pending) free(r *request) {
	if r.state == requestDone {
		return
	}
	p.open -= r.size
	if r.state >= requestRunning {
		p.open -= handlerOverhead
	}
	r.state = requestDone
	delete(p.byID, r.key)
	if len(p.byID) == 0 && p.most > keptMap {
		p.byID, p.most = make(map[string]*request), 0
	}
}

// part takes a request out of its group and lets those go on that wait for it there.
func (p *pending) part(r *request) {
	if r.over != nil {
		close(r.over)
		r.over = nil
	}
	p.leave(&r.member)
}

// empty lets go what a request holds that will never be started. What is left of it
// counts as waiting until its place is reached: a peer could cancel whatever it asks
// for.
func (p *pending) empty(r *request) {
	r.params, r.before, r.method, r.group = nil, nil, "", ""
	left := requestOverhead + int64(len(r.id)+len(r.key))
	p.waiting -= r.size - left
	r.size = left
}

// forget notes that the place of a request was reached that was cancelled before.
func (p *pending) forget(r *request) { p.waiting -= r.size }

// join makes m the last member of a group.
func (p *pending) join(m *member, key string) {
	g := p.groups[key]
	if g == nil {
		g = &group{}
		p.groups[key] = g
	}
	m.key = key
	if m.prev = g.last; m.prev != nil {
		m.prev.next = m
	} else {
		g.first = m
	}
	g.last = m
}

// leave takes m out of its group, if it is in one.
func (p *pending) leave(m *member) {
	g := p.groups[m.key]
	if g == nil || m.prev == nil && g.first != m {
		return
	}
	if m.prev != nil {
		m.prev.next = m.next
	} else {
		g.first = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	} else {
		g.last = m.prev
	}
	m.prev, m.next = nil, nil
	if g.first == nil {
		delete(p.groups, m.key)
	}
}

// endGroup ends the ctx of the members of a group, of background work only when all
// is true. It returns the requests among them. They end first: one that waits for the end
// of work must not take its place.
func (p *pending) endGroup(key string, all bool) (requests []*request) {
	g := p.groups[key]
	if g == nil {
		return nil
	}
	for m := g.first; m != nil; m = m.next {
		if m.work == nil && m.request.state != requestDone {
			m.request.endedBy = endedByGroup
			m.request.end(errGroupEnded)
			requests = append(requests, m.request)
		}
	}
	for m := g.first; m != nil; m = m.next {
		if m.work != nil && (all || !m.work.background) {
			m.work.end(errGroupEnded)
		}
	}
	return requests
}

// link adds a task to those that run.
func (p *pending) link(t *task) {
	if t.next = p.tasks; t.next != nil {
		t.next.prev = t
	}
	p.tasks = t
}

func (p *pending) unlink(t *task) {
	if t.prev != nil {
		t.prev.next = t.next
	} else if p.tasks == t {
		p.tasks = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
}

// running names the tasks.
func (p *pending) running() (names []string) {
	for t := p.tasks; t != nil; t = t.next {
		names = append(names, shown(t.method))
	}
	return names
}

// names sorts the names of methods, each of them once.
func names(methods []string) []string {
	slices.Sort(methods)
	return slices.Compact(methods)
}
