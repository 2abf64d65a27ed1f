package order

// slots says how many handlers run, and which requests wait until they may.
type slots struct {
	limit int
	taken int // by handlers of requests that need one
	// stalled counts the responses that wait for room in the outgoing queue. While there
	// are as many as there are slots no request is started: a peer that asks and does not
	// read must not get a goroutine for every question.
	stalled  int
	exceeded func() bool // Config.Exceeded

	counted, uncounted []*Request // those that wait, in order
}

// free reports whether the request may be started.
func (s *slots) free(r *Request) bool {
	return s.stalled < s.limit && (r.Waits || s.taken < s.limit && (r.Inside || r.under != nil || !s.exceeded()))
}

// wait puts the request at the end of those that wait.
func (s *slots) wait(r *Request) {
	if r.Waits {
		s.uncounted = append(s.uncounted, r)
	} else {
		s.counted = append(s.counted, r)
	}
}

// next takes out of those that wait the first one that may be started, or that was
// cancelled meanwhile; nil when there is none. It is called until then.
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

// take gives the request its slot.
func (s *slots) take(r *Request) {
	if !r.Waits && !r.slot {
		r.slot = true
		s.taken++
	}
}

// give takes the slot away. It reports whether there was one.
func (s *slots) give(r *Request) bool {
	if !r.slot {
		return false
	}
	r.slot = false
	s.taken--
	return true
}
