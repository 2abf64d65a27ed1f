package rpc

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/wire"
)

// endKind says what ends a connection.
type endKind uint8

const (
	endClose  endKind = iota // Close was called
	endCtx                   // the ctx of Start ended
	endEOF                   // the peer has ended its side
	endRead                  // reading failed
	endWrite                 // writing failed
	endBroken                // a limit was exceeded
)

const (
	// tail is how long reading goes on when writing has failed: a peer that died
	// may have answered before.
	tail = 250 * time.Millisecond
	// readerGrace is how long Wait waits for the reader, and for the writer, after
	// the stream was closed. A read of stdin cannot be ended.
	readerGrace = 250 * time.Millisecond
)

// ending is how far the end of a connection has come.
type ending struct {
	mu    sync.Mutex // guards all below up to the channels
	begun bool       // Start or Close was called
	over  bool       // the end has begun
	kind  endKind
	why   error
	run   error       // what Wait returns
	stop  func() bool // ends the watch over the ctx of Start

	// closing: what remains must not take long. Written under mu.
	closing atomic.Bool
	// muted: nobody can be answered any more. Guarded by mu.
	muted bool

	hurry      chan struct{} // closed when closing
	mute       chan struct{} // closed when muted, or closing
	done       chan struct{} // closed when the stream is
	ended      chan struct{} // closed when nothing runs any more
	readerDone chan struct{} // closed by the reader
	closeErr   error         // of the stream; set before done is closed
}

func (e *ending) init(done chan struct{}) {
	if e.done = done; done == nil {
		e.done = make(chan struct{})
	}
	e.hurry, e.mute = make(chan struct{}), make(chan struct{})
	e.ended, e.readerDone = make(chan struct{}), make(chan struct{})
}

// onClose keeps what ends the watch over the ctx of Start.
func (e *ending) onClose(stop func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing.Load() { // meanwhile: nobody else will call it
		stop()
		return
	}
	e.stop = stop
}

// hurryLocked makes what remains quick.
func (e *ending) hurryLocked() {
	if !e.closing.Swap(true) {
		close(e.hurry)
	}
	e.muteLocked()
}

// muteLocked makes handlers end that only have something to answer. What was read
// before is still handled.
func (e *ending) muteLocked() {
	if !e.muted {
		e.muted = true
		close(e.mute)
	}
}

// finish begins the end of the connection. The first reason counts; a later one
// can only speed it up.
func (c *Conn) finish(kind endKind, why error) {
	e := &c.end
	e.mu.Lock()
	first := !e.over
	if first {
		e.over, e.kind, e.why = true, kind, why
		switch kind {
		case endCtx:
			e.run = why
		case endRead, endWrite, endBroken:
			e.run = closed(why)
		}
	}
	switch kind {
	case endClose, endCtx, endBroken:
		e.hurryLocked()
	case endWrite:
		e.muteLocked()
	}
	e.mu.Unlock()
	if first {
		go c.wind() // ends when everything else of the connection has
	}
}

// cause is what the errors of a connection that ends wrap.
func (c *Conn) cause() error {
	c.end.mu.Lock()
	defer c.end.mu.Unlock()
	return c.end.why
}

// outputFailed is called when nothing can be written any more.
func (c *Conn) outputFailed(err error) {
	kind := endWrite
	if errors.Is(err, wire.ErrStalled) {
		kind = endBroken
	}
	c.finish(kind, err)
	c.out.close(closed(c.cause()))
}

// wind leads the connection to its end.
func (c *Conn) wind() {
	e := &c.end
	kind := e.kind // written before this goroutine was started
	err := closed(e.why)
	var ctxEnded time.Time
	endContexts := func() {
		if ctxEnded.IsZero() {
			ctxEnded = time.Now()
			c.endLife(err)
		}
	}
	switch kind {
	case endEOF:
		c.endOfInput(err)
		if !waitFor(c.idle(), c.limits.DrainGrace, e.mute) {
			endContexts()
			c.drained(c.limits.HandlerGrace)
		}
	case endRead, endWrite:
		endContexts()
		if kind == endWrite {
			waitFor(e.readerDone, tail, e.hurry)
		}
		c.endOfInput(err)
		c.drained(c.limits.HandlerGrace)
	}
	e.mu.Lock()
	e.hurryLocked()
	if e.stop != nil {
		e.stop()
	}
	e.mu.Unlock()
	// In this order, so that calls made with the ctx of a handler end with the answer
	// that was read or with err, and not with their ctx.
	c.stopInput()
	c.failCalls(err, func(*call) bool { return true })
	c.out.close(err)
	endContexts()
	if !errors.Is(err, wire.ErrStalled) { // with a broken stream there is nothing to wait for
		waitFor(c.out.flushed(), c.limits.FlushGrace, nil)
	}
	_ = c.lib.Close() // says only that it was closed before
	e.closeErr = c.cfg.Stream.Close()
	c.out.abandon()
	close(e.done)

	left := c.limits.HandlerGrace - time.Since(ctxEnded)
	if !waitFor(c.idle(), left, nil) {
		if stuck := c.stuck(); len(stuck) > 0 {
			e.mu.Lock()
			e.run = stuckError(stuck, e.run)
			e.mu.Unlock()
		}
	}
	waitFor(c.out.flushed(), readerGrace, nil)
	waitFor(e.readerDone, readerGrace, nil)
	close(e.ended)
}
