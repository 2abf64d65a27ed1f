package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

	hurry      chan struct{} // closed when closing
	done       chan struct{} // closed when the stream is
	ended      chan struct{} // closed when nothing runs any more
	readerDone chan struct{} // closed by the reader
	closeErr   error         // of the stream; set before done is closed
}

func (e *ending) init() {
	e.hurry, e.done = make(chan struct{}), make(chan struct{})
	e.ended, e.readerDone = make(chan struct{}), make(chan struct{})
}

func (e *ending) onClose(stop func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stop = stop
}

// hurryLocked makes what remains quick.
func (e *ending) hurryLocked() {
	if !e.closing.Swap(true) {
		close(e.hurry)
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
	if gentle := kind == endEOF || kind == endRead || kind == endWrite && first; !gentle {
		e.hurryLocked()
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
	c.out.close(closed(err))
	kind := endWrite
	if errors.Is(err, wire.ErrStalled) {
		kind = endBroken
	}
	c.finish(kind, err)
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
		if !c.drained(c.limits.DrainGrace) {
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
	endContexts()
	c.stopInput()
	c.failCalls(err, func(*call) bool { return true })
	c.out.close(err)
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

// drained waits until everything that was read has been handled and answered.
func (c *Conn) drained(grace time.Duration) bool {
	return waitFor(c.idle(), grace, c.end.hurry)
}

// endOfInput makes the calls fail whose answers can never come: at once those that
// do not wait for notifications, and the others once everything that was read
// before has been handled.
func (c *Conn) endOfInput(err error) {
	c.failCalls(err, func(k *call) bool { return k.exempt })
	in := &c.in
	in.mu.Lock()
	if in.working && !in.stopped {
		c.enqueueLocked(item{kind: itemEnd})
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	c.failCalls(err, func(*call) bool { return true })
}

// stopInput drops what was not handled yet. Answers that were read reach their
// callers.
func (c *Conn) stopInput() {
	in := &c.in
	in.mu.Lock()
	in.stopped = true
	var answers []*call
	dropped := 0
	for in.queue.len() > 0 {
		switch it := in.queue.pop(); it.kind {
		case itemResponse:
			answers = append(answers, it.what.(*call))
		case itemNote:
			dropped++
			in.backlog -= it.size
		}
	}
	for _, it := range in.held {
		if it.kind == itemNote {
			dropped++
			in.backlog -= it.size
		}
	}
	in.held, in.behind, in.line = nil, nil, nil
	for _, r := range in.byID {
		if r.state != requestRunning {
			in.unregisterLocked(r)
			r.entered.over()
		}
	}
	if in.slow != nil {
		in.slow.Stop()
	}
	in.room.Broadcast()
	in.signalIdleLocked()
	in.mu.Unlock()
	if dropped > 0 {
		c.log.Info("acp: closed with notifications that were not handled", "count", dropped)
	}
	for _, k := range answers {
		c.deliver(k)
	}
}

// idle returns a channel that is closed when nothing that was read is left to do.
func (c *Conn) idle() <-chan struct{} {
	in := &c.in
	ch := make(chan struct{})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.idle = append(in.idle, ch)
	in.signalIdleLocked()
	return ch
}

func (in *inbound) signalIdleLocked() {
	if len(in.idle) == 0 || in.working || in.active != nil || len(in.byID) > 0 || len(in.held) > 0 {
		return
	}
	for _, ch := range in.idle {
		close(ch)
	}
	in.idle = nil
}

// stuck names the methods whose handlers still run.
func (c *Conn) stuck() []string {
	in := &c.in
	in.mu.Lock()
	defer in.mu.Unlock()
	var names []string
	for r := in.active; r != nil; r = r.next {
		names = append(names, shown(r.method))
	}
	if in.handling != nil {
		names = append(names, shown(in.handling.method))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func stuckError(methods []string, run error) error {
	err := fmt.Errorf("%w: %s", wire.ErrHandlerStuck, strings.Join(methods, ", "))
	if run != nil {
		err = fmt.Errorf("%w; %w", run, err)
	}
	return err
}

// Close ends the connection: reading stops, contexts end, what was accepted for
// sending is written within FlushGrace, the stream is closed, and pending calls
// fail. It returns what closing the stream returned. It does not wait for
// handlers; it may be called from one, and any number of times.
func (c *Conn) Close() error {
	if c.cfg.Stream == nil {
		return nil
	}
	if !c.closedEarly() {
		c.finish(endClose, nil)
		<-c.end.done
	}
	return c.end.closeErr
}

// closedEarly closes a connection that was never started.
func (c *Conn) closedEarly() bool {
	e := &c.end
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun {
		return false
	}
	e.begun, e.over = true, true
	e.hurryLocked()
	close(e.readerDone)
	e.closeErr = c.cfg.Stream.Close()
	close(e.done)
	close(e.ended)
	return true
}

// Shutdown lets what is under way come to its end, then closes: the handlers that
// run, the notifications that wait, and the calls of ours that wait for their
// answer. New requests are refused, and so are new calls, except from handlers.
// When ctx ends first, it closes at once and returns ctx's error.
func (c *Conn) Shutdown(ctx context.Context) error {
	if err := c.usable(); err != nil {
		return err
	}
	c.shutting.Store(true)
	for {
		handled, answered := c.idle(), c.calls.over()
		if isClosed(handled) && isClosed(answered) {
			return c.Close()
		}
		for _, ch := range []<-chan struct{}{answered, handled} {
			select {
			case <-ch:
			case <-c.end.done:
				return c.Close()
			case <-ctx.Done():
				_ = c.Close() // ctx's error says more
				return ctx.Err()
			}
		}
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Wait returns when the connection has ended and so has all that it started. It
// returns nil after end of input and after Close.
func (c *Conn) Wait() error {
	if c.cfg.Err != nil {
		return c.cfg.Err
	}
	c.end.mu.Lock()
	begun := c.end.begun
	c.end.mu.Unlock()
	if !begun {
		return errNotStarted
	}
	<-c.end.ended
	c.end.mu.Lock()
	defer c.end.mu.Unlock()
	return c.end.run
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.end.done }

// Err returns nil before Done is closed, and then the error that calls fail with.
func (c *Conn) Err() error {
	select {
	case <-c.end.done:
		return closed(c.cause())
	default:
		return nil
	}
}
