package streamhttp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
)

// Conn is the server's end of a connection, a stream.Stream.
type Conn struct {
	h         *Handler
	id, owner string
	in        *inbound
	first     chan stream.Message // the response to initialize
	done      chan struct{}       // closed when nothing more is sent
	closing   chan struct{}       // closed by Close, and with done
	drain     chan struct{}
	draining  sync.Once
	written   atomic.Int64

	mu        sync.Mutex // guards all below
	initID    json.RawMessage
	routes    routes
	streams   map[string]*events
	waiting   int64         // bytes of events that were not sent
	kept      int64         // bytes of events that were sent and are kept
	age       uint64        // counts events
	sent      chan struct{} // closed and replaced when room is made
	progress  time.Time     // when a part of an event was sent last
	ended     bool
	closed    bool
	err       error  // why Write fails
	after     func() // called after the end; set when serve has returned
	posts     int
	attached  int         // event streams with a receiver
	lingering bool        // Close waits for event streams that are about to be opened
	idle      *time.Timer // runs while there is neither a request nor an event stream
}

func newConn(h *Handler, id, owner string, initID json.RawMessage) *Conn {
	return &Conn{
		h: h, id: id, owner: owner, in: newInbound(h.opts.buffered), first: make(chan stream.Message, 1),
		done: make(chan struct{}), closing: make(chan struct{}), drain: make(chan struct{}),
		initID: initID, routes: newRoutes(), streams: map[string]*events{}, sent: make(chan struct{}), posts: 1,
	}
}

// Read implements stream.Stream.
func (c *Conn) Read() ([]byte, error) {
	m, err := c.in.Take()
	return m.Data, err
}

// Write implements stream.Stream.
func (c *Conn) Write(msg []byte) error {
	return c.writeMessage(stream.ParseMessage(msg))
}

// Features returns what the server's end can do.
func (c *Conn) Features() *stream.Features {
	return &stream.Features{ReadMessage: c.in.Take, WriteMessage: c.writeMessage, Written: c.written.Load, Draining: c.drain}
}

// Drain asks the connection that owns the stream to let running turns end and then to
// close it.
func (c *Conn) Drain() { c.draining.Do(func() { close(c.drain) }) }

// Close ends the connection. Messages that were written before are still sent to the
// event streams that are open or are opened within 5 s; every other request gets status
// 404. Close does not wait for that, and never fails.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.in.Close()
	if !c.ended {
		close(c.closing)
		c.lingering = true
		time.AfterFunc(closeLinger, c.endLinger) // it does nothing after the end
	}
	c.mu.Unlock()
	c.endIfOver()
	return nil
}

// endIfOver ends a closed connection that has nothing left to send.
func (c *Conn) endIfOver() {
	c.mu.Lock()
	over := c.closed && c.attached == 0 && (c.waiting == 0 || !c.lingering)
	c.mu.Unlock()
	if over {
		c.end(stream.ErrClosed)
	}
}

func (c *Conn) endLinger() {
	c.mu.Lock()
	c.lingering = false
	c.mu.Unlock()
	c.endIfOver()
}

// end ends the connection at once: err is what reading returns after the last message.
func (c *Conn) end(err error) {
	c.mu.Lock()
	c.endLocked(err)
	after := c.after
	c.after = nil
	c.mu.Unlock()
	c.h.remove(c)
	if after != nil {
		after()
	}
}

// afterEnd calls a function when the connection has ended. A connection has one such function.
func (c *Conn) afterEnd(after func()) {
	c.mu.Lock()
	ended := c.ended
	if !ended {
		c.after = after
	}
	c.mu.Unlock()
	if ended {
		after()
	}
}

func (c *Conn) endLocked(err error) {
	if c.ended {
		return
	}
	c.ended = true
	if c.err = err; err == io.EOF {
		c.err = io.ErrClosedPipe // the client has left
	}
	c.in.End(err)
	if !c.closed {
		close(c.closing)
	}
	close(c.done)
	if c.idle != nil {
		c.idle.Stop()
	}
	for _, e := range c.streams {
		e.all, e.sent, e.kept = nil, 0, 0
		e.wakeReceiver()
	}
	clear(c.streams)
	c.waiting, c.kept = 0, 0
}

// beginPost keeps the connection from ending because it is idle. It reports whether the connection
// is open.
func (c *Conn) beginPost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.closed {
		return false
	}
	c.posts++
	c.watchIdleLocked()
	return true
}

func (c *Conn) endPost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.posts--
	c.watchIdleLocked()
}

// watchIdleLocked starts or stops the idle timer.
func (c *Conn) watchIdleLocked() {
	switch {
	case c.posts > 0 || c.attached > 0 || c.ended:
		if c.idle != nil {
			c.idle.Stop()
		}
	case c.idle == nil:
		c.idle = time.AfterFunc(c.h.idle, c.checkIdle)
	default:
		c.idle.Reset(c.h.idle)
	}
}

func (c *Conn) checkIdle() {
	c.mu.Lock()
	idle := c.posts == 0 && c.attached == 0
	c.mu.Unlock()
	if idle {
		c.end(errIdle)
	}
}

// admit checks a message against its session header and records where its response goes. reason
// is the violation, or "". awaited reports whether the message is the response to a request of
// the agent.
func (c *Conn) admit(m *stream.Message, session string) (awaited bool, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.IsResponse() {
		asked, known := c.routes.asked.session(string(m.ID))
		if known && session != "" && session != asked {
			return false, sessionHeader + " does not match the request"
		}
		c.routes.asked.remove(string(m.ID))
		return known, ""
	}
	if len(m.SessionID) > maxHeaderID {
		return false, "An id is too long"
	}
	if session != "" && m.SessionID != "" && session != m.SessionID {
		return false, sessionHeader + " does not match params.sessionId"
	}
	if m.SessionID != "" {
		session = m.SessionID
	}
	if m.Kind == stream.KindRequest {
		c.routes.pending[string(m.ID)] = route{session: session, load: m.Method == "session/load", effect: effectOf(m.Method)}
	}
	return false, ""
}

// asks reports whether the agent waits for a response of the client.
func (c *Conn) asks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.routes.asked.empty()
}

// withdraw undoes what admit recorded of a request that will not be read.
func (c *Conn) withdraw(m *stream.Message) {
	if m.Kind != stream.KindRequest {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.routes.pending, string(m.ID))
}

const (
	// messageCost is added to the length of a message, because a short one takes memory too:
	// the buffer of its body, and its envelope.
	messageCost = 1 << 10
	// maxWaiting is how many messages wait for room. Each takes a request that is open.
	maxWaiting = 1024
)

// inbound holds the messages that have arrived at a server, in order, until they are read.
type inbound struct {
	*inbox.Inbox[stream.Message]
	turn    chan struct{} // held by the request or notification that waits for room
	waiting atomic.Int64  // messages that wait for the turn, or for room
}

func newInbound(limit int64) *inbound {
	return &inbound{Inbox: inbox.New(limit, inboundCost), turn: make(chan struct{}, 1)}
}

func inboundCost(m stream.Message) int { return messageCost + len(m.Data) }

// put adds a message. Most messages wait for room, one after the other; errCrowded means that too
// many wait. A response that is awaited does not wait, because messages in the full queue may be
// waiting for it.
func (in *inbound) put(ctx context.Context, m stream.Message, awaited bool) error {
	if !awaited {
		defer in.waiting.Add(-1)
		if in.waiting.Add(1) > maxWaiting {
			return errCrowded
		}
		select {
		case in.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-in.turn }()
		if _, err := in.Wait(ctx, inboundCost(m)); err != nil {
			return err
		}
	}
	return in.Put(m, nil)
}
