// Copied to client/v2 by go generate.

package client

import (
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// ends holds the functions to call when the connection or a session has ended.
type ends struct {
	mu       sync.Mutex // guards the fields below
	over     bool       // the connection has ended
	conn     []func()
	sessions []func(acp.SessionID)
}

// OnEnd arranges for f to be called once when the connection has ended: after the channel
// of [Conn.Done] is closed, and after the functions of earlier calls of OnEnd.
// [Conn.Wait] waits for f. If the connection has already ended, OnEnd calls f itself.
// OnEnd may be called before the Conn is started, also by the function given to [New]. If
// the Conn is neither started nor closed, f is never called.
func (c *Conn) OnEnd(f func()) {
	e := &c.ends
	e.mu.Lock()
	over := e.over
	if !over {
		e.conn = append(e.conn, f)
	}
	e.mu.Unlock()
	if over {
		f()
	}
}

// ended calls the functions given to OnEnd.
func (c *Conn) ended() {
	e := &c.ends
	e.mu.Lock()
	all := e.conn
	e.over, e.conn = true, nil
	e.mu.Unlock()
	for i := range all {
		defer all[len(all)-1-i]() // deferred, so that all are called even if one panics
	}
}

// OnSessionEnd arranges for f to be called each time a session has been closed or deleted,
// before the call that did so returns, on the goroutine of that call. When the connection
// ends, f is not called for the sessions that are still open; see [Conn.OnEnd].
func (c *Conn) OnSessionEnd(f func(acp.SessionID)) {
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	c.ends.sessions = append(c.ends.sessions, f)
}

// sessionEnded removes the state of a session and calls the functions given to OnSessionEnd.
func (c *Conn) sessionEnded(id acp.SessionID) {
	c.forgetSession(id)
	c.ends.mu.Lock()
	all := c.ends.sessions
	c.ends.mu.Unlock()
	for i := range all {
		defer all[len(all)-1-i](id) // deferred, so that all are called even if one panics
	}
}
