// Package websocket carries the messages of the Agent Client Protocol over WebSocket,
// one message a text frame. [Dial] is the client's end, [Accept] the server's. Both
// return a [Conn], which is a stream.Stream.
//
// Most programs use package remote, which offers WebSocket and streamable HTTP at one
// address and checks who connects. Accept alone checks the Origin header and nothing
// else.
//
// # Order and loss
//
// A connection keeps one total order in each direction, as standard input and output do. A
// message that is longer than MaxMessage is skipped, and reading continues. A connection
// that is lost cannot be resumed: dial again, initialize, and load or resume the session.
//
// Each end sends a ping every 15 s and gives up after 45 s without a byte from the peer. The
// stream reads ahead, up to one message or 1 MiB, so that it answers pings while Read is not
// called. When it has read that much, the stream stops reading, does not count the 45 s, and
// still sends pings, so that the peer does not give up either.
//
// # How a connection ends
//
// Close codes 1000 and 1001 of the peer, and a close without a code, are the clean end:
// reading returns a *[CloseError] for which errors.Is(err, io.EOF) holds. Every other
// code is an error, and so is the loss of the network connection without a close.
//
//	1000  the connection has done its work
//	1001  the server shuts down; errors.Is(err, stream.ErrShutdown) holds
//	1002  the first message is not initialize, or the peer broke the rules for frames
//	1007  the peer sent a text message that is not UTF-8
//	1008  the peer exceeded a limit, reads nothing, or may not go on
//	1011  this end failed, or ended before it responded to initialize
package websocket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
)

const (
	pingInterval = 15 * time.Second
	silentLimit  = 45 * time.Second
	// closeGrace is how long Close waits for the peer to close as well, writeGrace how
	// long it waits for a message that is being written.
	closeGrace = 2 * time.Second
	writeGrace = 250 * time.Millisecond

	// readAhead is how many bytes are read before the reader asks for them, unless it is
	// one message. arrivalCost is added to the length of each.
	readAhead   = 1 << 20
	arrivalCost = 256
)

// Conn is one end of a connection, a stream.Stream.
type Conn struct {
	ws         *websocket.Conn
	carrier    *carrier
	client     bool
	maxMessage int

	in       *inbox.Inbox[[]byte]
	receiver chan struct{} // closed when receive has returned
	ticker   *time.Timer
	greeted  atomic.Bool // at a server: initialize has arrived and was not refused
	drain    chan struct{}
	draining sync.Once

	// initID is the id of initialize while it has no response, at a server.
	initID atomic.Pointer[json.RawMessage]

	sending turn        // held while a message or a control frame is written
	silent  atomic.Bool // the peer was silent for silentLimit
	pong    atomic.Pointer[[]byte]
	again   refusals
	broken  error // the first failure of Write, which alone uses it

	close sync.Once
}

// start takes over a WebSocket whose handshake is done.
func start(ws *websocket.Conn, carrier *carrier, maxMessage int, c *Conn) *Conn {
	c.ws, c.carrier, c.maxMessage = ws, carrier, maxMessage
	if c.maxMessage <= 0 {
		c.maxMessage = stream.DefaultMaxMessage
	}
	c.in = inbox.New(readAhead, func(msg []byte) int { return arrivalCost + len(msg) })
	c.receiver, c.drain, c.sending = make(chan struct{}), make(chan struct{}), make(turn, 1)
	c.carrier.heard()
	ws.SetReadLimit(-1)                          // readMessage has its own, which does not end the connection
	c.ticker = time.AfterFunc(time.Hour, c.tick) // ends with the receiver
	c.ticker.Reset(pingInterval)                 // after c.ticker is set, which tick uses
	go c.receive()                               // ends with the connection
	return c
}

// Read implements stream.Stream. At a server the first message must be initialize; any
// other request or notification ends the connection with code 1002. After a successful
// initialize, another one gets an error as its response and is not returned.
func (c *Conn) Read() ([]byte, error) {
	for {
		msg, err := c.in.Take()
		if err == errNotUTF8 {
			_ = c.CloseWith(1007, "a text message is not UTF-8")
		}
		switch {
		case c.client || err != nil:
			return msg, err
		case c.greeted.Load():
			if again, err := c.refuseAgain(msg); !again {
				return msg, err
			} else if err != nil {
				return nil, err
			}
			continue
		}
		e := envelope.Parse(msg)
		switch {
		case e.Kind == envelope.KindRequest && string(e.Method) == "initialize":
			c.greeted.Store(true)
			id := json.RawMessage(bytes.Clone(e.ID))
			c.initID.Store(&id)
			return msg, nil
		case e.Kind == envelope.KindRequest, e.Kind == envelope.KindNotification, e.Method != nil:
			_ = c.CloseWith(1002, "the first message must be initialize")
			return nil, errNotGreeted
		case e.Kind == envelope.KindNotJSON, e.Kind == envelope.KindBadRequest:
			return msg, nil // the connection answers it
		}
	}
}

var errNotGreeted = errors.New("websocket: the first message was not initialize")

// Write implements stream.Stream. Line ends in msg are written as [stream.Lines] does. Bytes that are not UTF-8 are sent as U+FFFD, because a
// text frame cannot carry them.
func (c *Conn) Write(msg []byte) error {
	one := [1][]byte{msg}
	return c.writeBatch(one[:])
}

// writeBatch sends several messages in one write.
func (c *Conn) writeBatch(msgs [][]byte) error {
	for _, msg := range msgs {
		if len(msg) == 0 {
			return &stream.MessageError{Reason: "it is empty"}
		}
	}
	if c.in.IsClosed() {
		return stream.ErrClosed
	}
	if c.broken != nil || len(msgs) == 0 {
		return c.broken
	}
	c.sending <- struct{}{}
	if id := c.initID.Load(); id != nil {
		c.initialized(msgs, *id) // before the client can send initialize again
	}
	err := c.write(msgs)
	c.sendingDone()
	switch {
	case err == nil:
	case c.in.IsClosed():
		c.broken = stream.ErrClosed
	default:
		// The error that ended reading is more specific than that of writing.
		select {
		case <-c.receiver:
		case <-c.in.Closed():
		case <-time.After(writeGrace):
		}
		if over := c.in.Err(); over != nil && !errors.Is(over, io.EOF) {
			err = over
		}
		c.broken = fmt.Errorf("websocket: writing: %w", err)
	}
	return c.broken
}

// initialized looks for the response to initialize. After an error initialize may come
// again.
func (c *Conn) initialized(msgs [][]byte, id json.RawMessage) {
	for _, msg := range msgs {
		if m := stream.ParseMessage(msg); m.IsResponse() && bytes.Equal(m.ID, id) {
			c.greeted.Store(m.Kind == stream.KindResponse)
			c.initID.Store(nil)
			return
		}
	}
}

func (c *Conn) write(msgs [][]byte) error {
	c.carrier.join()
	for _, msg := range msgs {
		msg = envelope.OneLine(msg) // the peer may pass it on in a line
		if !utf8.Valid(msg) {
			msg = []byte(string([]rune(string(msg))))
		}
		if err := c.ws.Write(context.Background(), websocket.MessageText, msg); err != nil {
			_ = c.carrier.flush()
			return err
		}
	}
	return c.carrier.flush()
}

// Features returns what a WebSocket connection can do. Servers refuse or ignore another
// initialize. The code of CloseFor is 1008 for stream.ReasonLimit, 1011 for
// stream.ReasonFailure, and that of Close for others.
func (c *Conn) Features() *stream.Features {
	return &stream.Features{WriteBatch: c.writeBatch, Written: c.carrier.written.Load, CloseFor: c.closeFor, Draining: c.drain, SingleInitialize: true}
}

// Bytes returns how many bytes the connection has received and sent so far. It is safe for
// concurrent use.
func (c *Conn) Bytes() (received, sent int64) {
	return c.carrier.read.Load(), c.carrier.written.Load()
}

// Drain asks the connection that owns the stream to let running turns end and then to
// close it.
func (c *Conn) Drain() { c.draining.Do(func() { close(c.drain) }) }

// Close ends the connection with code 1000, or 1001 after Drain. It waits up to 2 s for
// the peer to close as well. It never fails.
func (c *Conn) Close() error {
	select {
	case <-c.drain:
		return c.CloseWith(1001, "the server shuts down")
	default:
		return c.CloseWith(1000, "")
	}
}

// closeFor closes the connection with the code for a reason.
func (c *Conn) closeFor(why stream.Reason) error {
	switch why {
	case stream.ReasonLimit:
		return c.CloseWith(1008, "a limit was exceeded")
	case stream.ReasonFailure:
		return c.CloseWith(1011, "internal error")
	}
	return c.Close()
}

// CloseWith closes the connection as Close does, with a code and a reason for the peer of
// at most 123 bytes. Only the first call of Close or CloseWith has an effect. A
// server that closes before it has responded to initialize responds with an error first,
// and uses 1011 in place of 1000.
func (c *Conn) CloseWith(code int, reason string) error {
	c.close.Do(func() {
		c.in.Close()
		c.ticker.Stop()
		if !c.sending.within(writeGrace) { // a write is stuck
			_ = c.carrier.Close()
			_ = c.ws.CloseNow()
			<-c.receiver
			return
		}
		cut := time.AfterFunc(closeGrace, func() { _ = c.carrier.Close() })
		if id := c.initID.Load(); id != nil {
			failed := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Initialize failed"}}`, *id)
			_ = c.ws.Write(context.Background(), websocket.MessageText, failed)
			if code == 1000 {
				code = 1011
			}
		}
		_ = c.ws.Close(websocket.StatusCode(code), reason) // a peer that is gone is closed as well
		cut.Stop()
		c.sending.release()
		_ = c.carrier.Close()
		<-c.receiver
	})
	return nil
}
