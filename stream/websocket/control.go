package websocket

import (
	"crypto/rand"
	"time"
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

// tick runs every PingInterval: it sends a ping, and ends a connection whose peer is
// silent. Only one tick waits to write at a time.
func (c *Conn) tick() {
	select {
	case <-c.receiver:
		return
	default:
		c.ticker.Reset(c.pingInterval)
	}
	if !c.in.paused() && c.carrier.silent() > c.timeout {
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
// the connection when the peer does not read for 5 s. It reports that it need not.
func (c *Conn) onPing(payload []byte) (answer bool) {
	pong := controlFrame(framePong, payload, c.client)
	c.pong.Store(&pong)
	go c.sendWaiting() // ends when the frame is written, at the latest with the connection
	return false
}

// sendWaiting writes the pong for the last ping and the refusals, unless something else is
// being written: its writer sees to them afterwards.
func (c *Conn) sendWaiting() {
	for c.owes() && c.sending.try() {
		if pong := c.pong.Swap(nil); pong != nil {
			_, _ = c.carrier.Write(*pong)
		}
		c.again.write(c)
		c.sending.release()
	}
}

// owes reports whether there is something for sendWaiting to write.
func (c *Conn) owes() bool { return c.pong.Load() != nil || c.again.waiting() }

// sendingDone ends a use of sending.
func (c *Conn) sendingDone() {
	c.sending.release()
	if c.owes() {
		go c.sendWaiting() // ends when all is written, at the latest with the connection
	}
}

// turn is a lock that can be waited for with a limit: it is held while something is
// written.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) acquire() { t <- struct{}{} }
func (t turn) release() { <-t }

func (t turn) try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquireWithin is acquire with a limit. It reports whether the turn was acquired.
func (t turn) acquireWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case t <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}
