package endpoint

import "sync"

// Ends holds the functions to call when a connection has ended.
type Ends struct {
	mu    sync.Mutex // guards the fields below
	over  bool       // the connection has ended
	calls []func()
}

// On arranges for f to be called when the connection has ended, or calls it if it already has.
func (e *Ends) On(f func()) {
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

// Ended calls the functions, the earlier ones first.
func (e *Ends) Ended() {
	e.mu.Lock()
	all := e.calls
	e.over, e.calls = true, nil
	e.mu.Unlock()
	CallAll(all, func(f func()) { f() })
}

// CallAll calls call with each of the functions, also if one panics.
func CallAll[F any](all []F, call func(F)) {
	for i := range all {
		defer call(all[len(all)-1-i])
	}
}
