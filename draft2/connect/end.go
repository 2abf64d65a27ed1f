package connect

import (
	"bytes"
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

// end is the stream of one of the two connections that share a stream during the negotiation. The
// initialize of its connection is taken and not sent. When the version of the agent is known, the
// end of that version is attached, and the other one is closed.
type end struct {
	below *probe

	wants    chan stream.Message // receives the initialize of the connection, at most one
	attached chan struct{}       // closed by attach
	closed   chan struct{}       // closed by Close

	writing sync.Mutex // held while messages are written or kept
	taken   bool       // guarded by writing: the initialize was taken
	ready   bool       // guarded by writing: attach has sent the kept messages
	kept    []stream.Message

	first []read // read before the messages of below; set before attached is closed
	mu    sync.Mutex
	gone  bool // guarded by mu: closed
	bound bool // guarded by mu: attached
}

// read is the result of one call of Read.
type read struct {
	msg []byte
	err error
}

func newEnd(below *probe) *end {
	return &end{below: below, wants: make(chan stream.Message, 1), attached: make(chan struct{}), closed: make(chan struct{})}
}

// attach connects the end with the stream. Read returns first before it reads from the stream, and
// the kept messages are sent.
func (e *end) attach(first []read) error {
	e.mu.Lock()
	if e.gone {
		e.mu.Unlock()
		return stream.ErrClosed
	}
	e.bound, e.first = true, first
	e.mu.Unlock()
	close(e.attached)
	e.writing.Lock()
	defer e.writing.Unlock()
	e.ready = true
	for _, m := range e.kept {
		if err := e.below.send(m); err != nil {
			return err
		}
	}
	e.kept = nil
	return nil
}

// keep takes or keeps a message while the end is not attached, and reports whether it did so.
func (e *end) keep(m stream.Message) bool {
	if e.ready {
		return false
	}
	m = stream.ParseMessage(bytes.Clone(m.Data))
	if !e.taken && m.Kind == stream.KindRequest && m.Method == methodInitialize {
		e.taken = true
		e.wants <- m
		return true
	}
	e.kept = append(e.kept, m)
	return true
}

const methodInitialize = "initialize"

func (e *end) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gone
}

func (e *end) Write(msg []byte) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	switch {
	case e.isClosed():
		return stream.ErrClosed
	case e.keep(stream.Message{Data: msg}):
		return nil
	}
	return e.below.s.Write(msg)
}

func (e *end) Read() ([]byte, error) {
	select {
	case <-e.attached:
	case <-e.closed:
		return nil, stream.ErrClosed
	}
	if len(e.first) > 0 {
		r := e.first[0]
		e.first = e.first[1:]
		return r.msg, r.err
	}
	return e.below.s.Read()
}

// Close closes the stream below if the end is attached.
func (e *end) Close() error { return e.close(e.below.s.Close) }

func (e *end) close(below func() error) error {
	e.mu.Lock()
	bound := e.bound
	if !e.gone {
		e.gone = true
		close(e.closed)
	}
	e.mu.Unlock()
	if !bound {
		return nil
	}
	return below()
}

// Features returns the features of the stream below, so that the connection behaves as over that
// stream.
func (e *end) Features() *stream.Features {
	below := e.below.features
	f := below.Information()
	if below.CloseFor != nil {
		f.CloseFor = func(why stream.Reason) error { return e.close(func() error { return below.CloseFor(why) }) }
	}
	if noise := e.below.noise; noise != nil {
		f.Unchecked = func() func([]byte) bool { return noise }
	}
	if below.WriteBatch != nil {
		f.WriteBatch = e.writeBatch
	}
	if below.WriteMessage != nil {
		f.WriteMessage = e.writeMessage
	}
	return f
}

func (e *end) writeMessage(m stream.Message) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	switch {
	case e.isClosed():
		return stream.ErrClosed
	case e.keep(m):
		return nil
	}
	return e.below.features.WriteMessage(m)
}

func (e *end) writeBatch(msgs [][]byte) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	if e.isClosed() {
		return stream.ErrClosed
	}
	if e.ready {
		return e.below.features.WriteBatch(msgs)
	}
	for _, msg := range msgs {
		e.keep(stream.Message{Data: msg})
	}
	return nil
}
