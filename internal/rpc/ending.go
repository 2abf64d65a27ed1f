package rpc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// endKind is the event that ends a connection.
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
	// tail is how long reading continues after writing has failed, because a peer that died may
	// have responded before.
	tail = 250 * time.Millisecond
	// readerGrace is how long Wait waits for the reader, and for the writer, after
	// the stream was closed. A read of stdin cannot be ended.
	readerGrace = 250 * time.Millisecond
)

// ending is the state of the end of a connection.
type ending struct {
	mu    sync.Mutex  // guards the four fields below, and the closing of the channels
	begun bool        // Start or Close was called
	why   error       // what the errors of the ending connection wrap
	run   error       // what Wait returns
	stop  func() bool // ends the watch over the ctx of Start

	began      chan struct{} // closed when the end begins
	hurry      chan struct{} // closed when handlers get no more time to finish, because this end closes
	mute       chan struct{} // closed with hurry, and already when writing has failed: nothing more can be sent
	done       chan struct{} // closed when the stream is closed
	ended      chan struct{} // closed when nothing runs
	readerDone chan struct{} // closed by the reader
	closeErr   error         // of the stream; set before done is closed
}

func (e *ending) init() {
	e.made(&e.done)
	e.made(&e.began)
	e.hurry, e.mute = make(chan struct{}), make(chan struct{})
	e.ended, e.readerDone = make(chan struct{}), make(chan struct{})
}

// made returns a channel that Done or Ending may have made before init.
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
	case isClosed(e.began):
		return closed(e.why)
	case e.begun:
		return errStarted
	}
	e.begun = true
	f()
	return nil
}

// closeEarly begins the end of a connection that was never started. It reports false if it was.
func (e *ending) closeEarly() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun {
		return false
	}
	e.begun = true
	close(e.began)
	e.hurryLocked()
	return true
}

// onClose sets the function that ends the watch over the ctx of Start.
func (e *ending) onClose(stop func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if isClosed(e.hurry) { // close was called before
		stop()
		return
	}
	e.stop = stop
}

// begin records that the connection ends. The first reason counts; a later one can only make the
// end faster. It reports whether this is the first.
func (e *ending) begin(kind endKind, why error) (first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if first = closeOnce(e.began); first {
		e.why = why
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
	case endWrite: // messages that were read before are still handled
		closeOnce(e.mute)
	}
	return first
}

func (e *ending) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hurryLocked()
	if e.stop != nil {
		e.stop()
	}
}

func (e *ending) hurryLocked() {
	closeOnce(e.hurry)
	closeOnce(e.mute)
}

// closeOnce closes ch if it is open, and reports whether it was.
func closeOnce(ch chan struct{}) bool {
	if isClosed(ch) {
		return false
	}
	close(ch)
	return true
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// cause returns the error that the errors of an ending connection wrap.
func (e *ending) cause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.why
}

// begins reports whether the end has begun.
func (e *ending) begins() bool { return isClosed(e.began) }

// wait returns how the connection ended, when it has.
func (e *ending) wait() error {
	e.mu.Lock()
	begun := e.begun
	e.mu.Unlock()
	if !begun {
		return errNotStarted
	}
	<-e.ended
	return e.run
}

// stuck records that handlers did not return.
func (e *ending) stuck(methods []string) {
	for i := range methods {
		methods[i] = shown(methods[i])
	}
	slices.Sort(methods)
	err := fmt.Errorf("%w: %s", wire.ErrHandlerStuck, strings.Join(slices.Compact(methods), ", "))
	e.mu.Lock()
	defer e.mu.Unlock()
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

// shutdown ends the connection.
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
	// The order makes calls with the ctx of a handler end with the response that was read or
	// with err, not with their ctx, and prevents that something is sent because a call has failed.
	s.stopInput()
	c.out.Close(s.err)
	c.calls.fail(s.err, nil)
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
	return c.stream.features.CloseFor(why)
}

func (s *shutdown) endContexts() {
	if s.ctxEnded.IsZero() {
		s.ctxEnded = time.Now()
		s.c.endLife(s.err)
	}
}

// endOfInput makes the calls in flight fail: at once those that do not wait for notifications,
// and the others when everything that was read has been handled.
func (s *shutdown) endOfInput() {
	holds := s.c.order.Holds()
	s.c.calls.fail(s.err, func(k *call) bool { return k.exempt || holds && k.negotiates })
	if s.c.order.Arrive(order.Item{Kind: order.End}) {
		s.c.calls.fail(s.err, nil)
	}
}

// stopInput drops what was not handled. Responses that were read reach their callers.
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
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
	case <-hurry:
	case <-t.C:
	}
	return isClosed(done)
}
