package streamhttp

import (
	"bytes"
	"crypto/rand"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

const (
	ringEvents = 4096    // events that were sent and are kept, a stream
	ringBytes  = 8 << 20 // their bytes
	// batchBytes is how much of what waits one write takes, unless it is one event.
	batchBytes = 256 << 10
)

// events is one event stream: the events that wait to be sent, and the sent ones that may be
// requested again. The mutex of its connection guards it.
type events struct {
	session  string
	epoch    string
	all      []event // the kept ones, followed by those that wait
	sent     int     // how many of all are kept
	kept     int64   // their bytes
	next     uint64  // the number of the next event
	high     uint64  // the highest number that a receiver was given
	receiver *receiver
	closed   bool          // the session was closed or deleted
	left     uint64        // the age of the connection when the last receiver left
	wake     chan struct{} // receives a value when there is something to do
}

// idle reports whether no one listens and nothing waits.
func (e *events) idle() bool { return e.receiver == nil && len(e.all) == e.sent }

type event struct {
	n    uint64
	age  uint64
	data []byte
}

func newEvents(session string) *events {
	return &events{session: session, epoch: rand.Text()[:8], next: 1, wake: make(chan struct{}, 1)}
}

// wakeReceiver tells the receiver that there is something to do.
func (e *events) wakeReceiver() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// writeMessage queues the message on the event stream that it belongs to.
func (c *Conn) writeMessage(m stream.Message) error {
	if len(m.Data) == 0 {
		return &stream.MessageError{Reason: "it is empty"}
	}
	m.Data = bytes.Clone(envelope.OneLine(m.Data)) // the caller keeps its own
	for {
		c.mu.Lock()
		room, err := c.pushLocked(m)
		c.mu.Unlock()
		if room == nil || err != nil {
			if err == errUnattended || err == errNotFirst {
				c.end(err)
			}
			return err
		}
		if !c.awaitRoom(room) {
			c.end(errStalled)
			return errStalled
		}
	}
}

// pushLocked queues a message, or returns a channel that is closed when there may be
// room for it.
func (c *Conn) pushLocked(m stream.Message) (room <-chan struct{}, err error) {
	switch {
	case c.closed:
		return nil, stream.ErrClosed
	case c.ended:
		return nil, c.err
	case c.initID != nil:
		if !m.IsResponse() || string(m.ID) != string(c.initID) {
			return nil, errNotFirst
		}
		c.initID = nil
		c.first <- m
		return nil, nil
	case c.waiting > 0 && c.waiting+int64(len(m.Data)) > c.h.opts.buffered:
		return c.sent, nil
	}
	session, to := c.routes.out(&m, c.attachedLocked)
	if e := c.streams[session]; e != nil && e.closed && e.receiver == nil && !c.routes.busy(session) {
		session = "" // the client will not open the event stream of that session
	}
	e, err := c.eventsLocked(session)
	if err != nil {
		return nil, err
	}
	if own := c.streams[to.session]; m.Kind == stream.KindResponse && to.effect != noEffect && own != nil {
		own.closed = to.effect == closes
	}
	c.age++
	if c.waiting == 0 {
		c.progress = time.Now()
	}
	e.all = append(e.all, event{n: e.next, age: c.age, data: m.Data})
	e.next++
	c.waiting += int64(len(m.Data))
	e.wakeReceiver()
	return nil, nil
}

// eventsLocked returns the event stream of a session.
func (c *Conn) eventsLocked(session string) (*events, error) {
	if e := c.streams[session]; e != nil {
		return e, nil
	}
	unattended := 0
	for _, other := range c.streams {
		if other.receiver == nil && len(other.all) > other.sent {
			unattended++
		}
	}
	if unattended >= maxSessions {
		return nil, errUnattended
	}
	return c.newEventsLocked(session), nil
}

// newEventsLocked makes an event stream. If there are many, it forgets the one that has been idle
// for longest, because only a client whose connection was cut would request it.
func (c *Conn) newEventsLocked(session string) *events {
	if len(c.streams) > maxSessions {
		var oldest *events
		for _, e := range c.streams {
			if e.idle() && (oldest == nil || e.left < oldest.left) {
				oldest = e
			}
		}
		if oldest != nil {
			c.kept -= oldest.kept
			delete(c.streams, oldest.session)
		}
	}
	e := newEvents(session)
	c.streams[session] = e
	return e
}

func (c *Conn) attachedLocked(session string) bool {
	e := c.streams[session]
	return e != nil && e.receiver != nil
}

// awaitRoom waits for room. It returns false if the client reads nothing for stallLimit.
func (c *Conn) awaitRoom(room <-chan struct{}) bool {
	for {
		c.mu.Lock()
		left := stallLimit - time.Since(c.progress)
		c.mu.Unlock()
		if left <= 0 {
			return false
		}
		select {
		case <-room:
			return true
		case <-c.closing:
			return true // pushLocked returns the error
		case <-time.After(left):
		}
	}
}

// batch returns the events to send next, and whether r is still the receiver.
func (c *Conn) batch(e *events, r *receiver) (next []event, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.receiver != r {
		return nil, false
	}
	waiting := e.all[e.sent:]
	for n, size := 0, 0; n < len(waiting); n++ {
		if size += len(waiting[n].data); n > 0 && size > batchBytes {
			waiting = waiting[:n]
		}
	}
	if n := len(waiting); n > 0 {
		e.high = max(e.high, waiting[n-1].n)
	}
	return slices.Clip(waiting), true
}

// markSent records that n events were sent to r.
func (c *Conn) markSent(e *events, r *receiver, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.receiver != r || n > len(e.all)-e.sent {
		return // another receiver has taken over, or the connection has ended
	}
	for _, ev := range e.all[e.sent : e.sent+n] {
		c.keepLocked(e, ev, 1)
	}
	e.sent += n
	if !c.h.opts.Resume {
		c.forgetLocked(e, e.sent)
	}
	for e.sent > ringEvents || e.kept > ringBytes && e.sent > 1 {
		c.forgetLocked(e, 1)
	}
	for c.kept > maxBuffered && c.forgetOldestLocked() {
	}
	close(c.sent)
	c.sent = make(chan struct{})
}

// progressed records that n bytes of events were sent. A client that reads a long event slowly
// makes progress too.
func (c *Conn) progressed(n int) {
	c.written.Add(int64(n))
	c.h.sent.Add(int64(n))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = time.Now()
}

// forgetLocked drops the n oldest events that were sent.
func (c *Conn) forgetLocked(e *events, n int) {
	for i := range e.all[:n] {
		size := int64(len(e.all[i].data))
		c.kept -= size
		e.kept -= size
		e.all[i] = event{}
	}
	e.sent -= n
	if e.all = e.all[n:]; len(e.all) == 0 {
		e.all = nil
	}
}

// forgetOldestLocked drops the oldest event of all streams, but never the newest one of
// a stream. It reports whether there was one.
func (c *Conn) forgetOldestLocked() bool {
	var oldest *events
	for _, e := range c.streams {
		if e.sent > 1 && (oldest == nil || e.all[0].age < oldest.all[0].age) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	c.forgetLocked(oldest, 1)
	return true
}
