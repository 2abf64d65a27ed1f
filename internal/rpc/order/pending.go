package order

// keptMap is the maximum number of entries that a map may have had to be reused when it is empty,
// because maps do not shrink.
const keptMap = 1024

// pending holds the requests whose response is not queued yet, the work that outlives its response,
// and the tasks that run code of the user for them.
type pending struct {
	maxWaiting, maxOpen int64

	byKey   map[string]*Request
	most    int // how many there were at once
	groups  map[string]*list
	waiting int64 // bytes of the requests that were not started yet
	open    int64 // bytes of all of them
	tasks   list  // of what runs
}

// none reports whether nothing is open and nothing runs.
func (p *pending) none() bool { return p.tasks.first == nil && len(p.byKey) == 0 }

// tooMany reports whether there is no room for one more request. Requests that wait for the user
// and may stay open for hours must leave a part of the room to the others.
func (p *pending) tooMany(r *Request, startsNow bool) bool {
	room, size := p.maxOpen, r.do.scope().Size
	if !r.Waits {
		room += p.maxWaiting
	}
	if p.open > 0 && p.open+size+handlerOverhead > room {
		return true
	}
	return !startsNow && p.waiting+size > p.maxWaiting
}

func (p *pending) register(r *Request) {
	p.byKey[r.Key] = r
	p.most = max(p.most, len(p.byKey))
	p.waiting += r.do.scope().Size
	p.open += r.do.scope().Size
}

// charge counts more bytes for an unstarted request.
func (p *pending) charge(r *Request, size int64) {
	r.do.scope().Size += size
	p.waiting += size
	p.open += size
}

func (p *pending) started(r *Request) {
	p.waiting -= r.do.scope().Size
	p.open += handlerOverhead
	r.state = running
	r.task.request = r
	p.tasks.push(&r.task)
}

// grow counts bytes that a request holds beyond those of its message.
func (p *pending) grow(r *Request, size int64) {
	if r.state != done {
		r.do.scope().Size += size
		p.open += size
	}
}

// remove forgets a request whose handler will never be called.
func (p *pending) remove(r *Request) {
	p.free(r)
	p.part(r)
	r.Called()
}

// free makes the id of a request free again.
func (p *pending) free(r *Request) {
	if r.state == done {
		return
	}
	p.open -= r.do.scope().Size
	if r.state >= running {
		p.open -= handlerOverhead
	}
	r.state = done
	delete(p.byKey, r.Key)
	if len(p.byKey) == 0 && p.most > keptMap {
		p.byKey, p.most = make(map[string]*Request), 0
	}
}

// part takes a request out of its group. Requests of the group may wait for that.
func (p *pending) part(r *Request) {
	m := r.member
	if m == nil {
		return
	}
	if m.responded != nil {
		close(m.responded)
		m.responded = nil
	}
	p.leave(&m.node, r.Group)
}

// empty frees the memory of a cancelled request. The rest counts as waiting until the place of the
// request is reached, because a peer could cancel every request.
func (p *pending) empty(r *Request) {
	s := r.do.scope()
	left := RequestOverhead + int64(len(r.ID)+len(r.Key))
	r.Ends, r.Group, s.Method = nil, "", ""
	p.waiting -= s.Size - left
	s.Size = left
}

// forget records that the place of a cancelled request was reached.
func (p *pending) forget(r *Request) { p.waiting -= r.do.scope().Size }

// slots counts the running handlers, and holds the requests that wait for a slot.
type slots struct {
	limit int
	taken int // by handlers of requests that need one
	// stalled counts the responses that wait for room in the outgoing queue. While there are as
	// many as there are slots no request is started, so that a peer which sends requests and does
	// not read cannot start a goroutine with each request.
	stalled  int
	exceeded func() bool // Config.Exceeded

	counted, uncounted []*Request // those that wait, in order
}

func (s *slots) free(r *Request) bool {
	return s.stalled < s.limit && (r.Waits || s.taken < s.limit && (r.Inside || r.under != nil || !s.exceeded()))
}

func (s *slots) wait(r *Request) {
	if r.Waits {
		s.uncounted = append(s.uncounted, r)
	} else {
		s.counted = append(s.counted, r)
	}
}

// next returns the first waiting request that may be started or was cancelled meanwhile, or nil
// if there is none. It is called until then.
func (s *slots) next() *Request {
	for _, list := range []*[]*Request{&s.uncounted, &s.counted} {
		waiters := *list
		if len(waiters) == 0 {
			continue
		}
		if r := waiters[0]; r.state != waiting || s.free(r) {
			waiters[0] = nil
			if *list = waiters[1:]; len(*list) == 0 {
				*list = nil
			}
			return r
		}
	}
	return nil
}

func (s *slots) take(r *Request) {
	if !r.Waits && !r.slot {
		r.slot = true
		s.taken++
	}
}

// give frees the slot of a request, and reports whether it had one.
func (s *slots) give(r *Request) bool {
	if !r.slot {
		return false
	}
	r.slot = false
	s.taken--
	return true
}
