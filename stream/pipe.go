package stream

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// These limits bound how much one direction of a pipe holds before Write blocks. A longer message
// is accepted if the pipe is empty.
const (
	pipeBytes    = 256 << 10
	pipeMessages = 256
)

// Pipe returns the two ends of a connection in memory: what one end writes the other
// reads, in order. It is for tests and for an agent that runs in the process of its
// client. Write blocks while about 256 KiB or 256 messages wait to be read, so a slow
// reader slows its writer down. A message may have any length and hold any bytes, but
// must not be empty. After one end is closed, the other end reads the pending messages
// and then io.EOF, and its writes fail with io.ErrClosedPipe. A pipe has no goroutines,
// works in a synctest bubble, and is garbage-collected without Close.
func Pipe() (Stream, Stream) {
	ab, ba := newConduit(), newConduit()
	return &pipeEnd{in: ba, out: ab}, &pipeEnd{in: ab, out: ba}
}

// pipeEnd is one end. Read takes everything that waits at once, so that the lock is taken once for
// many messages.
type pipeEnd struct {
	in, out *conduit
	closed  atomic.Bool

	taken [][]byte // used by Read only: messages already taken from in
	next  int      // index of the next message in taken

	copies [][]byte // used by Write only: the messages to hand over
}

func (p *pipeEnd) Read() ([]byte, error) {
	if p.closed.Load() {
		return nil, ErrClosed
	}
	if p.next == len(p.taken) {
		taken, err := p.in.take(p.taken)
		p.taken, p.next = taken, 0
		if err != nil {
			return nil, err
		}
	}
	msg := p.taken[p.next]
	p.taken[p.next] = nil
	p.next++
	return msg, nil
}

func (p *pipeEnd) Write(msg []byte) error {
	one := [1][]byte{msg}
	return p.WriteBatch(one[:])
}

// Features returns what a pipe can do.
func (p *pipeEnd) Features() *Features { return &Features{WriteBatch: p.WriteBatch} }

// WriteBatch is the Features.WriteBatch of a pipe.
func (p *pipeEnd) WriteBatch(msgs [][]byte) error {
	for _, msg := range msgs {
		if len(msg) == 0 {
			return &MessageError{Reason: "it is empty"}
		}
	}
	for len(msgs) > 0 {
		n, size := 0, 0
		for n < len(msgs) && n < pipeMessages && size < pipeBytes {
			p.copies = append(p.copies, bytes.Clone(msgs[n]))
			size += len(msgs[n])
			n++
		}
		err := p.out.put(p.copies)
		clear(p.copies)
		p.copies = p.copies[:0]
		if err != nil {
			return err
		}
		msgs = msgs[n:]
	}
	return nil
}

// Close never fails.
func (p *pipeEnd) Close() error {
	p.closed.Store(true)
	p.out.closeWriter()
	p.in.closeReader()
	return nil
}

// conduit is one direction of a pipe: one writer, one reader.
type conduit struct {
	arrived, room sync.Cond // both use mu

	mu      sync.Mutex // guards the fields below
	waiting [][]byte
	size    int // bytes of waiting
	// The ends that were closed.
	writerClosed, readerClosed bool
}

func newConduit() *conduit {
	c := new(conduit)
	c.arrived.L, c.room.L = &c.mu, &c.mu
	return c
}

// take waits for messages and returns all of them. It reuses spent, the slice that the last call
// returned.
func (c *conduit) take(spent [][]byte) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) == 0 && !c.writerClosed && !c.readerClosed {
		c.arrived.Wait()
	}
	if c.readerClosed {
		return nil, ErrClosed
	}
	if len(c.waiting) == 0 {
		return nil, io.EOF
	}
	taken := c.waiting
	c.waiting, c.size = spent[:0], 0
	c.room.Signal()
	return taken, nil
}

// put waits for room and takes the messages. The slice msgs still belongs to the caller.
func (c *conduit) put(msgs [][]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, msg := range msgs {
		for !c.fitsLocked(len(msg)) && !c.writerClosed && !c.readerClosed {
			c.arrived.Signal()
			c.room.Wait()
		}
		if c.writerClosed {
			return ErrClosed
		}
		if c.readerClosed {
			return io.ErrClosedPipe
		}
		c.waiting = append(c.waiting, msg)
		c.size += len(msg)
	}
	c.arrived.Signal()
	return nil
}

func (c *conduit) fitsLocked(n int) bool {
	return len(c.waiting) == 0 || len(c.waiting) < pipeMessages && c.size+n <= pipeBytes
}

func (c *conduit) closeWriter() {
	c.mu.Lock()
	c.writerClosed = true
	c.mu.Unlock()
	c.arrived.Broadcast()
	c.room.Broadcast()
}

// closeReader discards the messages that were not read.
func (c *conduit) closeReader() {
	c.mu.Lock()
	c.readerClosed, c.waiting, c.size = true, nil, 0
	c.mu.Unlock()
	c.arrived.Broadcast()
	c.room.Broadcast()
}
