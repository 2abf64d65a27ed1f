package rpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
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
	// may have responded before.
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
	// muted: no more responses can be sent. Guarded by mu.
	muted bool

	began      chan struct{} // closed when over
	hurry      chan struct{} // closed when closing
	mute       chan struct{} // closed when muted, or closing
	done       chan struct{} // closed when the stream is
	ended      chan struct{} // closed when nothing runs
	readerDone chan struct{} // closed by the reader
	closeErr   error         // of the stream; set before done is closed
}

func (e *ending) init() {
	e.whenDone()
	e.whenBegun()
	e.hurry, e.mute = make(chan struct{}), make(chan struct{})
	e.ended, e.readerDone = make(chan struct{}), make(chan struct{})
}

// whenDone returns a channel that is closed when the stream is. It can be asked for before
// init.
func (e *ending) whenDone() <-chan struct{} { return e.made(&e.done) }

// whenBegun returns a channel that is closed when the end begins. It can be asked for before
// init.
func (e *ending) whenBegun() <-chan struct{} { return e.made(&e.began) }

func (e *ending) made(ch *chan struct{}) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if *ch == nil {
		*ch = make(chan struct{})
	}
	return *ch
}

// start runs f unless the connection was started or closed before.
func (e *ending) start(f func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.over:
		return closed(e.why)
	case e.begun:
		return errStarted
	}
	e.begun = true
	f()
	return nil
}

// closeEarly ends a connection that was never started. It reports false for one that was.
func (e *ending) closeEarly(closeStream func() error, ended func()) bool {
	e.mu.Lock()
	begun := e.begun
	if !begun {
		e.begun, e.over = true, true
		close(e.began)
		e.hurryLocked()
	}
	e.mu.Unlock()
	if begun {
		return false
	}
	close(e.readerDone)
	e.closeErr = closeStream()
	close(e.done)
	ended()
	close(e.ended)
	return true
}

// onClose keeps what ends the watch over the ctx of Start.
func (e *ending) onClose(stop func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing.Load() { // meanwhile: it would never be called
		stop()
		return
	}
	e.stop = stop
}

// begin notes that the connection ends. The first reason counts; a later one can only
// speed it up. It reports whether this is the first.
func (e *ending) begin(kind endKind, why error) (first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first = !e.over
	if first {
		e.over, e.kind, e.why = true, kind, why
		close(e.began)
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
	return first
}

// close makes what remains quick, and ends the watch over the ctx of Start.
func (e *ending) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hurryLocked()
	if e.stop != nil {
		e.stop()
	}
}

func (e *ending) hurryLocked() {
	if !e.closing.Swap(true) {
		close(e.hurry)
	}
	e.muteLocked()
}

// muteLocked makes handlers end that only have something to respond. What was read
// before is still handled.
func (e *ending) muteLocked() {
	if !e.muted {
		e.muted = true
		close(e.mute)
	}
}

// cause is what the errors of a connection that ends wrap.
func (e *ending) cause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.why
}

// begins reports whether the end has begun.
func (e *ending) begins() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

// wait returns how the connection ended, when it has.
func (e *ending) wait() error {
	e.mu.Lock()
	begun := e.begun
	e.mu.Unlock()
	if !begun {
		return errNotStarted
	}
	<-e.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.run
}

// stuck notes that handlers did not return.
func (e *ending) stuck(methods []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range methods {
		methods[i] = shown(methods[i])
	}
	slices.Sort(methods)
	err := fmt.Errorf("%w: %s", wire.ErrHandlerStuck, strings.Join(slices.Compact(methods), ", "))
	if e.run != nil {
		err = fmt.Errorf("%w; %w", e.run, err)
	}
	e.run = err
}

// finish begins the end of the connection.
func (c *Conn) finish(kind endKind, why error) {
	if c.end.begin(kind, why) {
		s := &shutdown{c: c, kind: kind, err: closed(why)}
		go s.run() // ends when everything else of the connection has
	}
}

// shutdown leads the connection to its end.
type shutdown struct {
	c        *Conn
	kind     endKind
	err      error     // what calls fail with
	ctxEnded time.Time // when the contexts of handlers were ended
}

func (s *shutdown) run() {
	c, e := s.c, &s.c.end
	switch s.kind {
	case endEOF:
		s.endOfInput()
		if !waitFor(c.order.Handled(false), c.limits.DrainGrace, e.mute) {
			s.endContexts()
			waitFor(c.order.Handled(false), c.limits.HandlerGrace, e.hurry)
		}
	case endRead, endWrite:
		s.endContexts()
		if s.kind == endWrite {
			waitFor(e.readerDone, tail, e.hurry)
		}
		s.endOfInput()
		waitFor(c.order.Handled(false), c.limits.HandlerGrace, e.hurry)
	}
	e.close()
	// In this order, so that calls made with the ctx of a handler end with the response
	// that was read or with err, and not with their ctx, and so that nothing is sent because
	// a call has failed.
	s.stopInput()
	c.out.Close(s.err)
	c.calls.fail(s.err, every)
	s.endContexts()
	if !errors.Is(s.err, wire.ErrStalled) { // with a broken stream there is nothing to wait for
		waitFor(c.out.Flushed(), c.limits.FlushGrace, nil)
	}
	e.closeErr = c.closeStream(s.kind)
	c.out.Abandon()
	c.results.End()
	close(e.done)
	c.ended()

	left := c.limits.HandlerGrace - time.Since(s.ctxEnded)
	if !waitFor(c.order.Handled(false), left, nil) {
		if stuck := c.order.Running(); len(stuck) > 0 {
			e.stuck(stuck)
		}
	}
	waitFor(c.out.Ended(), readerGrace, nil)
	waitFor(e.readerDone, readerGrace, nil)
	close(e.ended)
}

// closeStream closes the stream and gives it the reason.
func (c *Conn) closeStream(kind endKind) error {
	why := stream.ReasonDone
	switch kind {
	case endBroken:
		why = stream.ReasonLimit
	case endRead, endWrite:
		why = stream.ReasonFailure
	}
	return c.cfg.Stream.(*guarded).features.CloseFor(why)
}

func (s *shutdown) endContexts() {
	if s.ctxEnded.IsZero() {
		s.ctxEnded = time.Now()
		s.c.endLife(s.err)
	}
}

// endOfInput makes the calls fail whose responses can never come: at once those that
// do not wait for notifications, and the others once everything that was read
// before has been handled.
func (s *shutdown) endOfInput() {
	s.c.calls.fail(s.err, func(k *call) bool { return k.exempt })
	if s.c.order.Arrive(order.Item{Kind: order.End}) {
		s.c.calls.fail(s.err, every)
	}
}

// stopInput drops what was not handled yet. Responses that were read reach their
// callers.
func (s *shutdown) stopInput() {
	responses, dropped := s.c.order.Stop()
	if dropped > 0 {
		s.c.log.Info("acp: closed with notifications that were not handled", "count", dropped)
	}
	for _, response := range responses {
		k, _ := response.(*call)
		s.c.calls.deliver(k)
	}
}

// waitFor reports whether done was closed in time and before hurry was.
func waitFor(done <-chan struct{}, grace time.Duration, hurry <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-hurry:
	case <-t.C:
	}
	return false
}
