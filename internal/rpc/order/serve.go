package order

import "runtime"

// servers are the goroutines that serve the requests that were started. A goroutine serves one
// request after the other, because a new goroutine first has to grow its stack. No request waits for
// the handler of another one: while a request waits, a goroutine has been started that looks for it,
// and that starts the next one, if more requests wait, before it calls a handler.
type servers struct {
	first, last *Request // those that wait for a goroutine, in order
	coming      bool     // a goroutine was started and has not looked yet
}

// serveLocked makes a goroutine serve r.
func (o *Order) serveLocked(r *Request) {
	s := &o.servers
	if s.first == nil {
		s.first = r
	} else {
		s.last.next = r
	}
	s.last = r
	o.startServerLocked()
}

// startServerLocked starts a goroutine if a request waits for one and none is coming.
func (o *Order) startServerLocked() {
	if s := &o.servers; s.first != nil && !s.coming {
		s.coming = true
		go o.serve() // ends when no request waits for a goroutine
	}
}

// serve serves requests until none waits for a goroutine. A handler may end the goroutine; then
// others serve the requests that wait.
func (o *Order) serve() {
	r := o.takeWaiting(true)
	if r == nil {
		return
	}
	growStack()
	for ; r != nil; r = o.takeWaiting(false) {
		r.do.Serve(r.under)
	}
}

// takeWaiting returns the first request that waits for a goroutine, or nil. came reports whether the
// goroutine has just been started.
func (o *Order) takeWaiting(came bool) *Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := &o.servers
	s.coming = s.coming && !came
	r := s.first
	if r == nil {
		s.last = nil // its memory is freed
		return nil
	}
	s.first, r.next = r.next, nil
	o.startServerLocked()
	return r
}

// handlerStack is a little more stack than decoding, a short handler and encoding need.
const handlerStack = 2 << 10

// growStack makes the stack of the goroutine large enough for most handlers. A new stack has about
// 1 KiB, which a request always exceeds. Go then copies it, frame by frame, which is cheapest while
// there are few frames. In the depth of decoding it would take a quarter of the time of a short
// request.
//
//go:noinline
func growStack() {
	var room [handlerStack]byte
	runtime.KeepAlive(&room)
}
