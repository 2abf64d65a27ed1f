package rpc

import "context"

// Close ends the connection: reading stops, contexts end, what was accepted for
// sending is written within FlushGrace, the stream is closed, and pending calls
// fail. It returns what closing the stream returned. It does not wait for
// handlers; it may be called from one, and any number of times.
func (c *Conn) Close() error {
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
	begun := e.begun
	if !begun {
		e.begun, e.over = true, true
		e.hurryLocked()
	}
	e.mu.Unlock()
	if begun {
		return false
	}
	close(e.readerDone)
	if c.cfg.Stream != nil {
		e.closeErr = c.cfg.Stream.Close()
	}
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
