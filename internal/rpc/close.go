package rpc

import "context"

// Close ends the connection: reading stops, contexts end, what was accepted for
// sending is written within FlushGrace, the stream is closed, and pending calls
// fail. It returns what closing the stream returned. It does not wait for
// handlers; it may be called from one, and any number of times.
func (c *Conn) Close() error {
	if !c.ready.Load() { // there is nothing to close
		return nil
	}
	early := c.end.closeEarly(func() error {
		if c.cfg.Stream == nil {
			return nil
		}
		return c.cfg.Stream.Close()
	}, c.ended)
	if !early {
		c.finish(endClose, nil)
		<-c.end.done
	}
	return c.end.closeErr
}

// ended reports to its owner that the connection has ended.
func (c *Conn) ended() {
	c.lines.end(c.log)
	if c.cfg.OnEnd != nil {
		protect(c.log, "OnEnd", c.cfg.OnEnd)
	}
}

// Shutdown lets what is in flight come to its end, then closes: the handlers that
// run, the work that outlives its response, the notifications that wait, and the
// calls of ours that wait for their response. New requests are refused, and so are new
// calls, except from handlers. If ctx is done first, it closes at once and returns ctx's
// error.
func (c *Conn) Shutdown(ctx context.Context) error {
	if err := c.usable(); err != nil {
		return err
	}
	c.shutting.Store(true)
	c.in.refuse()
	for {
		handled, responded := c.in.done(), c.calls.over()
		if isClosed(handled) && isClosed(responded) {
			return c.Close()
		}
		for _, ch := range []<-chan struct{}{responded, handled} {
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
	if err := c.wrong(); err != nil {
		return err
	}
	return c.end.wait()
}

// Ending is closed when the end of the connection begins.
func (c *Conn) Ending() <-chan struct{} { return c.end.whenBegun() }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.end.whenDone() }

// Err returns nil before Done is closed, and then the error that calls fail with.
func (c *Conn) Err() error {
	if isClosed(c.Done()) {
		return closed(c.end.cause())
	}
	return nil
}
