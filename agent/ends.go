// Copied to agent/v2 by go generate.

package agent

import "sync"

// ends holds the functions to call when the connection has ended.
type ends struct {
	mu    sync.Mutex // guards the fields below
	over  bool       // the connection has ended
	calls []func()
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
		e.calls = append(e.calls, f)
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
	all := e.calls
	e.over, e.calls = true, nil
	e.mu.Unlock()
	for i := range all {
		defer all[len(all)-1-i]() // deferred, so that all are called even if one panics
	}
}
