package websocket

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// The opcodes of control frames, with the bit that marks a complete frame.
const (
	frameClose = 0x88
	framePing  = 0x89
	framePong  = 0x8a
)

// controlFrame returns a control frame. Those of a client are masked. The payload has
// at most 125 bytes.
func controlFrame(op byte, payload []byte, client bool) []byte {
	frame := append(make([]byte, 0, 6+len(payload)), op, byte(len(payload)))
	if !client {
		return append(frame, payload...)
	}
	frame[1] |= 0x80
	var mask [4]byte
	_, _ = rand.Read(mask[:]) // never fails
	frame = append(frame, mask[:]...)
	for i, c := range payload {
		frame = append(frame, c^mask[i%4])
	}
	return frame
}

// tick runs every pingInterval: it sends a ping, and ends a connection whose peer is silent.
func (c *Conn) tick() {
	select {
	case <-c.receiver:
		return
	default:
		c.ticker.Reset(pingInterval)
	}
	if !c.in.Full() && c.carrier.silent() > silentLimit {
		c.silent.Store(true)
		_ = c.carrier.Close() // before reading fails: writing must fail then too
		return
	}
	// While a message is being written the peer sees that this end lives.
	if c.sending.try() {
		_, _ = c.carrier.Write(controlFrame(framePing, nil, c.client)) // reading sees the failure
		c.sendingDone()
	}
}

// onPing answers a ping. The library would do so on the goroutine that reads, and end
// the connection if the peer does not read for 5 s.
func (c *Conn) onPing(_ context.Context, payload []byte) (answer bool) {
	pong := controlFrame(framePong, payload, c.client)
	c.pong.Store(&pong)
	go c.sendWaiting() // ends when the frame is written, at the latest with the connection
	return false
}

// sendWaiting writes the pong for the last ping and the refusals. If something else is being
// written, its writer calls sendWaiting afterwards.
func (c *Conn) sendWaiting() {
	for c.owes() && c.sending.try() {
		if pong := c.pong.Swap(nil); pong != nil {
			_, _ = c.carrier.Write(*pong)
		}
		for _, id := range c.again.take() {
			_ = c.ws.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil,
				`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"Invalid request: the connection is initialized"}}`, id))
		}
		c.sending.release()
	}
}

// owes reports whether sendWaiting has something to write.
func (c *Conn) owes() bool { return c.pong.Load() != nil || c.again.waiting() }

// sendingDone ends a use of sending.
func (c *Conn) sendingDone() {
	c.sending.release()
	if c.owes() {
		go c.sendWaiting() // ends when all is written, at the latest with the connection
	}
}

// turn is a lock with a limit for waiting. It is held while something is written.
type turn chan struct{}

func (t turn) release() { <-t }

func (t turn) try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// within acquires the turn. It reports false if that takes longer than d.
func (t turn) within(d time.Duration) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-time.After(d):
		return false
	}
}

// maxRefusals is how many refusals may wait for a peer that does not read.
const maxRefusals = 64

// refusals are the ids of requests that get an error response as soon as no message is being
// written.
type refusals struct {
	mu  sync.Mutex // guards ids
	ids []json.RawMessage
}

// add reports whether there was room.
func (r *refusals) add(id json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ids) >= maxRefusals {
		return false
	}
	r.ids = append(r.ids, bytes.Clone(id))
	return true
}

func (r *refusals) take() []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := r.ids
	r.ids = nil
	return ids
}

func (r *refusals) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids) > 0
}

var errRefusals = errors.New("websocket: the peer sends initialize again and reads no responses")

// refuseAgain refuses another initialize. It reports whether msg is one. An error ends the
// connection.
func (c *Conn) refuseAgain(msg []byte) (again bool, err error) {
	if !bytes.Contains(msg, []byte(`"initialize"`)) {
		return false, nil
	}
	e := envelope.Parse(msg)
	if e.Kind != envelope.KindRequest || string(e.Method) != "initialize" {
		return false, nil
	}
	if !c.again.add(e.ID) {
		_ = c.CloseWith(1008, "too many refused requests")
		return true, errRefusals
	}
	go c.sendWaiting() // ends when they are written, at the latest with the connection
	return true, nil
}
