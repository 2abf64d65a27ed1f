package streamhttp

import (
	"fmt"
	"strconv"
	"strings"
)

// attach makes r the receiver of a session's events. If that is not possible, it returns an HTTP
// status.
func (c *Conn) attach(session, last string, r *receiver) (e *events, status int) {
	var old *receiver
	defer func() {
		if old != nil {
			old.replace() // without the mutex, which its GET needs to end
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	e = c.streams[session]
	if c.ended || c.closed && (e == nil || len(e.all) == e.sent) {
		return nil, 404
	}
	if last == beforeFirst && (e == nil || e.closed) {
		last = ""
	}
	if last != "" && c.h.opts.Resume {
		if e == nil || !c.rewindLocked(e, last) {
			return nil, 410
		}
	} else if e != nil && e.receiver != nil && !e.receiver.dead() {
		return nil, 409
	}
	if e != nil && e.receiver != nil {
		old = e.receiver
		c.countLocked(e, -1)
	}
	if (e == nil || e.receiver == nil) && c.attached > maxSessions {
		// Some clients keep the event streams of sessions that they have closed.
		if old = c.detachClosedLocked(); old == nil {
			return nil, 429
		}
	}
	if e == nil {
		e = c.newEventsLocked(session)
	}
	e.receiver = r
	c.countLocked(e, 1)
	c.watchIdleLocked()
	return e, 0
}

// detachClosedLocked makes the receiver of a session that was closed leave, and returns it.
func (c *Conn) detachClosedLocked() *receiver {
	for _, e := range c.streams {
		if r := e.receiver; e.closed && r != nil && len(e.all) == e.sent && !c.routes.busy(e.session) {
			c.detachLocked(e)
			return r
		}
	}
	return nil
}

// greeting returns the beginning of an event stream, because proxies hold headers back until
// something follows. With Resume it is an event without data. Its id is that of the event before
// the first waiting one, so that a client can continue even if the stream is cut before that event.
func (c *Conn) greeting(e *events) []byte {
	if !c.h.opts.Resume {
		return []byte(comment)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last := e.next - 1 - uint64(len(e.all)-e.sent)
	return fmt.Appendf(nil, "id: %s-%d\n\n", e.epoch, last)
}

// rewindLocked makes the events after the one with this id wait again. It reports
// whether they are all there.
func (c *Conn) rewindLocked(e *events, last string) bool {
	epoch, number, _ := strings.Cut(last, "-")
	if last == beforeFirst {
		epoch, number = e.epoch, last
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || epoch != e.epoch || n > e.high {
		return false // it is not from here, or was never sent
	}
	first := e.next - uint64(len(e.all)) // the number of all[0]
	if n+1 < first {
		return false
	}
	at := int(n + 1 - first)
	for ; e.sent > at; e.sent-- {
		c.keepLocked(e, e.all[e.sent-1], -1)
	}
	for ; e.sent < at; e.sent++ { // it was sent to a receiver before the last one
		c.keepLocked(e, e.all[e.sent], 1)
	}
	return true
}

// keepLocked counts a waiting event as kept, or with sign -1 a kept event as waiting.
func (c *Conn) keepLocked(e *events, ev event, sign int64) {
	size := sign * int64(len(ev.data))
	c.waiting -= size
	c.kept += size
	e.kept += size
}

// detach is called when a receiver ends.
func (c *Conn) detach(e *events, r *receiver) {
	c.mu.Lock()
	if e.receiver == r {
		c.detachLocked(e)
	}
	c.mu.Unlock()
	c.endIfOver()
}

// countLocked counts a receiver that comes or leaves.
func (c *Conn) countLocked(e *events, n int) {
	if c.attached += n; e.session != "" {
		c.h.sessions.Add(int64(n))
	}
}

func (c *Conn) detachLocked(e *events) {
	e.receiver = nil
	e.left = c.age
	c.countLocked(e, -1)
	if len(e.all) == 0 && !c.h.opts.Resume && !e.closed && c.streams[e.session] == e {
		delete(c.streams, e.session)
	}
	c.watchIdleLocked()
}
