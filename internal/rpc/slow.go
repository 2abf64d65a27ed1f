package rpc

import "time"

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
	h, before := in.handling, in.slowFor
	in.slowArms, in.slowFor = false, nil
	waiting := c.firstWaitingLocked()
	if h == nil || waiting == "" || in.stopped {
		in.mu.Unlock()
		return
	}
	if h != before || h.inside > 0 {
		c.watchSlowLocked()
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	c.log.Warn("acp: a notification handler keeps a call or request waiting; if the handler waits for it, pass it the handler's ctx",
		"handler", shown(h.method), "waiting", shown(waiting), "for", c.limits.SlowHandler)
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
