package negotiate

import (
	"bytes"
	"sync"

	"github.com/acpkit/go-sdk/stream"
)

// end is the stream of one of two connections that stand ready on one stream. Its
// connection writes its initialize, which is taken and not sent. Once it is known which
// version the agent speaks, the end of that version is attached, or else closed.
type end struct {
	below stream.Stream
	noise func([]byte) // what below returned for Unchecked, or nil

	wants    chan stream.Message // the initialize that the connection wants to send; one at most
	attached chan struct{}       // closed by attach
	closed   chan struct{}       // closed by Close

	writing sync.Mutex // held while messages are written or kept
	taken   bool       // guarded by writing: the initialize was taken
	ready   bool       // guarded by writing: attach has sent what was kept
	kept    []stream.Message

	once  sync.Once // guards closing
	first []read    // what is read first; set before attached is closed
	mu    sync.Mutex
	gone  bool // guarded by mu: closed
	bound bool // guarded by mu: attached
}

// read is what one call of Read has returned.
type read struct {
	msg []byte
	err error
}

func newEnd(below stream.Stream, noise func([]byte)) *end {
	return &end{
		below: below, noise: noise, wants: make(chan stream.Message, 1),
		attached: make(chan struct{}), closed: make(chan struct{}),
	}
}

// attach connects the end: it reads first what stands in first, and what it has kept is
// sent.
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
		if err := send(e.below, m); err != nil {
			return err
		}
	}
	e.kept = nil
	return nil
}

// keep takes or keeps a message while the end is not attached. It reports whether it did.
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
	return e.below.Write(msg)
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
	return e.below.Read()
}

// Close closes the stream below if the end is attached.
func (e *end) Close() error { return e.close(func() error { return e.below.Close() }) }

// CloseFor implements [stream.ReasonCloser].
func (e *end) CloseFor(why stream.Reason) error {
	if s, ok := e.below.(stream.ReasonCloser); ok {
		return e.close(func() error { return s.CloseFor(why) })
	}
	return e.Close()
}

func (e *end) close(below func() error) error {
	e.once.Do(func() {
		e.mu.Lock()
		e.gone = true
		e.mu.Unlock()
		close(e.closed)
	})
	e.mu.Lock()
	bound := e.bound
	e.mu.Unlock()
	if !bound {
		return nil
	}
	return below()
}

// Unchecked implements [stream.TolerantReader].
func (e *end) Unchecked() func([]byte) { return e.noise }

// Draining implements [stream.Drainer]. A stream without one never drains.
func (e *end) Draining() <-chan struct{} {
	if d, ok := e.below.(stream.Drainer); ok {
		return d.Draining()
	}
	return nil
}

// Hasten implements [stream.Hastener]. It changes nothing for a stream without one.
func (e *end) Hasten() {
	if h, ok := e.below.(stream.Hastener); ok {
		h.Hasten()
	}
}

// messageEnd, batchEnd and meterEnd add what a stream may have besides.
type (
	messageEnd struct{ *end }
	batchEnd   struct{ *end }
	meterEnd   struct{ *end }
)

func (e messageEnd) WriteMessage(m stream.Message) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	switch {
	case e.isClosed():
		return stream.ErrClosed
	case e.keep(m):
		return nil
	}
	return e.below.(stream.MessageWriter).WriteMessage(m)
}

func (e batchEnd) WriteBatch(msgs [][]byte) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	if e.isClosed() {
		return stream.ErrClosed
	}
	if e.ready {
		return e.below.(stream.BatchWriter).WriteBatch(msgs)
	}
	for _, msg := range msgs {
		e.keep(stream.Message{Data: msg})
	}
	return nil
}

func (e meterEnd) Written() int64 { return e.below.(stream.ProgressWriter).Written() }

// as returns the end with the optional interfaces of the stream below, so that the
// connection over it behaves like one over that stream.
func (e *end) as() stream.Stream {
	_, messages := e.below.(stream.MessageWriter)
	_, batches := e.below.(stream.BatchWriter)
	_, meter := e.below.(stream.ProgressWriter)
	switch {
	case messages:
		return struct {
			*end
			stream.MessageWriter
		}{e, messageEnd{e}}
	case batches && meter:
		return struct {
			*end
			stream.BatchWriter
			stream.ProgressWriter
		}{e, batchEnd{e}, meterEnd{e}}
	case batches:
		return struct {
			*end
			stream.BatchWriter
		}{e, batchEnd{e}}
	case meter:
		return struct {
			*end
			stream.ProgressWriter
		}{e, meterEnd{e}}
	}
	return e
}

// send writes a message as the stream wants it.
func send(s stream.Stream, m stream.Message) error {
	if w, ok := s.(stream.MessageWriter); ok {
		return w.WriteMessage(m)
	}
	return s.Write(m.Data)
}
