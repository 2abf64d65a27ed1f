package rpc

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/internal/wire"
)

// Close ends the connection: reading stops, contexts end, what was accepted for
// sending is written within FlushGrace, the stream is closed, and pending calls
// fail. It returns what closing the stream returned. It does not wait for
// handlers; it may be called from one, and any number of times.
func (c *Conn) Close() error {
	if !c.ready.Load() { // there is nothing to close
		return nil
	}
	e := &c.end
	if !e.closeEarly() {
		c.finish(endClose, nil)
		<-e.done
		return e.closeErr
	}
	if c.stream != nil {
		e.closeErr = c.stream.close()
	}
	close(e.readerDone)
	close(e.done)
	c.ended()
	close(e.ended)
	return e.closeErr
}

func (c *Conn) ended() {
	c.lines.end(c.log)
	if c.cfg.OnEnd != nil {
		protect(c.log, "OnEnd", c.cfg.OnEnd)
	}
}

// Shutdown waits for everything in flight and then closes the connection: the handlers that run,
// the work that outlives its response, the notifications that wait, and our calls that wait for
// their response. It refuses new requests, and new calls except from handlers. If ctx is done
// first, it closes the connection at once and returns the error of ctx.
func (c *Conn) Shutdown(ctx context.Context) error {
	if err := c.usable(); err != nil {
		return err
	}
	c.shutting.Store(true)
	for {
		handled, responded := c.order.Handled(true), c.calls.over()
		if isClosed(handled) && isClosed(responded) {
			return c.Close()
		}
		for _, ch := range []<-chan struct{}{responded, handled} {
			select {
			case <-ch:
			case <-c.end.done:
				return c.Close()
			case <-ctx.Done():
				_ = c.Close() // the error of ctx is more specific
				return ctx.Err()
			}
		}
	}
}

// Wait returns when the connection has ended and so has all that it started. It
// returns nil after end of input and after Close.
func (c *Conn) Wait() error {
	if err := c.wrong(); err != nil {
		return err
	}
	return c.end.wait()
}

// Ending is closed when the end of the connection begins.
func (c *Conn) Ending() <-chan struct{} { return c.end.made(&c.end.began) }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.end.made(&c.end.done) }

// Err returns nil before Done is closed, and then the error that calls fail with.
func (c *Conn) Err() error {
	if isClosed(c.Done()) {
		return closed(c.end.cause())
	}
	return nil
}

// closedError is the error of every call after the end of the connection. It is wire.ErrClosed, and
// wraps what ended the connection.
type closedError struct{ cause error }

func (e *closedError) Error() string {
	if e.cause == nil {
		return wire.ErrClosed.Error()
	}
	return wire.ErrClosed.Error() + ": " + e.cause.Error()
}

func (e *closedError) Is(target error) bool { return target == wire.ErrClosed }

func (e *closedError) Unwrap() error { return e.cause }

// closed wraps cause unless it is wire.ErrClosed.
func closed(cause error) error {
	if cause != nil && errors.Is(cause, wire.ErrClosed) {
		return cause
	}
	return &closedError{cause: cause}
}

var (
	errNotReady   = errors.New("acp: the connection is not ready: make it with New, and use it when New has returned")
	errNotStarted = errors.New("acp: connection is not started: call Start or Run first")
	errStarted    = errors.New("acp: the connection is already started: call Start or Run once")
	errShutdown   = errors.New("connection is shutting down")

	errBeforeHandshake = errors.New("the connection is not initialized")
)
