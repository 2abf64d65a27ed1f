package websocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

const blockSize = 64 << 10

// blocks are used while a message arrives, so that a connection that waits holds none.
var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }}

// receive reads ahead until the connection ends. After Close it drops what it reads until the peer
// has closed too: a reset would lose what was written.
func (c *Conn) receive() {
	defer close(c.receiver)
	defer c.carrier.Close() // a blocked Write returns
	for {
		if waited, _ := c.in.Wait(context.Background(), 1); waited {
			c.carrier.heard() // what the peer sent meanwhile was not looked at
		}
		kind, r, err := c.ws.Reader(context.Background()) // the end of a ctx would cut the connection
		if err != nil {
			c.tellViolation(err)
			c.in.End(c.endError(err))
			return
		}
		if kind != websocket.MessageText || c.in.IsClosed() {
			if _, err := io.Copy(io.Discard, r); err != nil {
				c.in.End(c.endError(err))
				return
			}
			continue
		}
		msg, err := c.readMessage(r)
		if _, skipped := errors.AsType[*stream.TooLargeError](err); err != nil && !skipped {
			c.in.End(c.endError(err))
			return
		}
		if err == nil && !utf8.Valid(msg) {
			msg, err = nil, errNotUTF8
		}
		_ = c.in.Put(msg, err)
	}
}

// readMessage reads a message, or skips one that is longer than MaxMessage.
func (c *Conn) readMessage(r io.Reader) ([]byte, error) {
	block := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(block)
	msg := inbox.Gather{Max: c.maxMessage}
	for {
		n, err := readFull(r, block[:])
		_, _ = msg.Write(block[:n])
		if err == io.EOF {
			return msg.Take()
		}
		if err != nil {
			return nil, err
		}
	}
}

// readFull fills b. At the end of the message it returns the number of bytes read and
// io.EOF.
func readFull(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}

// errNotUTF8 ends a connection whose peer sends a text message that is not UTF-8.
var errNotUTF8 = errors.New("websocket: a text message is not UTF-8")

// tellViolation sends the close code for a client's frame that is not masked and for a server's
// frame that is masked. The library sends the codes for all other violations.
func (c *Conn) tellViolation(err error) {
	if (errors.Is(err, errMasked) || strings.Contains(err.Error(), "unmasked frame")) && c.sending.try() {
		_, _ = c.carrier.Write(controlFrame(frameClose, []byte{1002 >> 8, 1002 & 0xff}, c.client))
		c.sending.release()
	}
}

// errSilent ends a connection whose peer sends nothing, not even pings.
var errSilent = errors.New("websocket: nothing was received for too long")

// longestReason is the number of bytes that a reason can have in a frame.
const longestReason = 123

// CloseError reports that the peer closed the connection.
type CloseError struct {
	Code   int // 1005 if the peer gave none
	Reason string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf(`websocket: the peer closed the connection with code %d "%s"`, e.Code, strings.ReplaceAll(safetext.OneLine(e.Reason, longestReason), `"`, `\"`))
}

// Is reports whether target is io.EOF and the end was clean: 1000, 1001, or no code. An end
// with 1001 is stream.ErrShutdown too.
func (e *CloseError) Is(target error) bool {
	switch target {
	case io.EOF:
		return e.Code == 1000 || e.Code == 1001 || e.Code == 1005
	case stream.ErrShutdown:
		return e.Code == 1001
	}
	return false
}

// endError returns the reason why reading ended.
func (c *Conn) endError(err error) error {
	if c.silent.Load() {
		return errSilent
	}
	if closed, ok := errors.AsType[websocket.CloseError](err); ok {
		return &CloseError{Code: int(closed.Code), Reason: closed.Reason}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the network connection ended without a close
	}
	return fmt.Errorf("websocket: reading: %w", err)
}
