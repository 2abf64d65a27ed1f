package rpc

// slots says how many handlers run, and which requests wait until they may. Guarded by
// the lock of inbound.
type slots struct {
	limit int
	taken int // by handlers of counted requests
	// stalled counts the responses that wait for room in the outgoing queue. While there
	// are as many as there are slots no request is started: a peer that asks and does not
	// read must not get a goroutine for every question.
	stalled int
	// exceeded reports whether too many results without a reservation are in flight. No
	// counted request is started then, but those that a notification handler may wait for.
	// The budget calls inbound.resume when the others may be started.
	exceeded func() bool

	counted, uncounted []*request // those that wait, in order
}

// free reports whether the request may be started.
func (s *slots) free(r *request) bool {
	return s.stalled < s.limit && (!r.counted() || s.taken < s.limit && (r.insideNotification() || !s.exceeded()))
}

// wait puts the request at the end of those that wait.
func (s *slots) wait(r *request) {
	if r.counted() {
		s.counted = append(s.counted, r)
	} else {
		s.uncounted = append(s.uncounted, r)
	}
}

// next takes out of those that wait the first one that may be started, or that was
// cancelled meanwhile; nil when there is none. It is called until then.
func (s *slots) next() *request {
	for _, list := range []*[]*request{&s.uncounted, &s.counted} {
		waiters := *list
		if len(waiters) == 0 {
			continue
		}
		if r := waiters[0]; r.state != requestWaiting || s.free(r) {
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
func (s *slots) take(r *request) {
	if r.counted() && !r.slot {
		r.slot = true
		s.taken++
	}
}

// give takes the slot away. It reports whether there was one.
func (s *slots) give(r *request) bool {
	if !r.slot {
		return false
	}
	r.slot = false
	s.taken--
	return true
}
