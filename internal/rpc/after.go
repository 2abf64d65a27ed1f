package rpc

import "context"

// AfterResponse registers f to run after the answer of the request that is being
// handled has been queued for sending, or could not be. Several run in the order
// of registration, on the handler's goroutine. It returns false, and f never
// runs, when ctx is not that of a request handler or its answer has left already.
func AfterResponse(ctx context.Context, f func()) bool {
	s := scopeOf(ctx)
	if s == nil || s.req == nil || f == nil {
		return false
	}
	r := s.req
	r.afterMu.Lock()
	defer r.afterMu.Unlock()
	if r.afterDone {
		return false
	}
	r.after = append(r.after, f)
	return true
}

// runAfter runs what AfterResponse registered.
func (c *Conn) runAfter(r *request) {
	for {
		r.afterMu.Lock()
		if len(r.after) == 0 {
			r.afterDone = true
			r.afterMu.Unlock()
			return
		}
		f := r.after[0]
		r.after = r.after[1:]
		r.afterMu.Unlock()
		if r.writes { // the answer must not wait for f
			r.writes = false
			go c.out.write() // ends when the queue is empty or the stream is broken
		}
		c.protect("AfterResponse", f)
	}
}
