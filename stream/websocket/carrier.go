package websocket

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// corkSize is how many bytes are gathered before they are written.
	corkSize = 64 << 10
	// partSize is how many bytes are written at once, so that progress can be seen.
	partSize = 64 << 10
)

var corks = sync.Pool{New: func() any { return new([corkSize]byte) }}

// carrier is the network connection below a WebSocket. It counts bytes and joins small writes. It
// also lets this package write control frames between messages: the WebSocket library can only send
// them while it is read from.
type carrier struct {
	rwc io.ReadWriteCloser

	written  atomic.Int64
	read     atomic.Int64
	received atomic.Int64 // when the last byte was read, in nanoseconds since the start

	start time.Time

	frames *frameHeads // finds frames that the server masks; nil at a server

	mu    sync.Mutex      // guards cork and used; held while writing
	cork  *[corkSize]byte // nil unless writes are joined
	used  int
	close sync.Once
}

func newCarrier(rwc io.ReadWriteCloser) *carrier { return &carrier{rwc: rwc, start: time.Now()} }

func (c *carrier) Read(p []byte) (int, error) {
	n, err := c.rwc.Read(p)
	if n > 0 {
		c.read.Add(int64(n))
		c.heard()
		if c.frames != nil && c.frames.masked(p[:n]) {
			return 0, errMasked
		}
	}
	return n, err
}

// errMasked ends a connection whose server masks a frame. The library would accept it.
var errMasked = errors.New("websocket: received masked frame from server")

// frameHeads finds the heads of the frames in the bytes that a peer sends.
type frameHeads struct {
	head [10]byte // of which n bytes were read
	n    int
	rest uint64 // bytes of the payload that follow
}

// masked reports whether a frame is masked whose head ends in b.
func (f *frameHeads) masked(b []byte) bool {
	for len(b) > 0 {
		if f.rest > 0 {
			k := min(f.rest, uint64(len(b)))
			b, f.rest = b[k:], f.rest-k
			continue
		}
		f.head[f.n] = b[0]
		f.n++
		b = b[1:]
		if f.n < 2 {
			continue
		}
		if f.head[1]&0x80 != 0 {
			return true
		}
		size, length := 2, uint64(f.head[1])
		switch length {
		case 126:
			size, length = 4, uint64(binary.BigEndian.Uint16(f.head[2:]))
		case 127:
			size, length = 10, binary.BigEndian.Uint64(f.head[2:])
		}
		if f.n == size {
			f.n, f.rest = 0, length
		}
	}
	return false
}

// heard records that something was received.
func (c *carrier) heard() { c.received.Store(int64(time.Since(c.start))) }

// silent returns for how long nothing was received.
func (c *carrier) silent() time.Duration {
	return time.Since(c.start) - time.Duration(c.received.Load())
}

func (c *carrier) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cork == nil {
		return c.writeLocked(p)
	}
	if c.used+len(p) > corkSize {
		if err := c.flushLocked(); err != nil {
			return 0, err
		}
		if len(p) > corkSize {
			return c.writeLocked(p)
		}
	}
	c.used += copy(c.cork[c.used:], p)
	return len(p), nil
}

func (c *carrier) writeLocked(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = c.rwc.Write(p[n:min(len(p), n+partSize)])
		n += m
		c.written.Add(int64(m))
	}
	return n, err
}

func (c *carrier) flushLocked() error {
	_, err := c.writeLocked(c.cork[:c.used])
	c.used = 0
	return err
}

// join makes writes wait until flush.
func (c *carrier) join() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cork = corks.Get().(*[corkSize]byte)
}

// flush writes what was joined.
func (c *carrier) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.flushLocked()
	corks.Put(c.cork)
	c.cork = nil
	return err
}

// Close makes blocked reads and writes return.
func (c *carrier) Close() (err error) {
	c.close.Do(func() { err = c.rwc.Close() })
	return err
}
