// Copied to client/v2 by go generate.

package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
)

// listener is a function for updates outside of a turn. A nil listener drops them.
type listener func(context.Context, acp.SessionUpdate)

// listeners holds the functions for a session's updates outside of a turn. The function that was
// set last, by OnUpdate or by a load, receives the updates. A load that fails removes its function,
// even if others were set after it.
type listeners struct {
	set []*listener // the last one receives the updates; a failed load restores the one before
}

// current returns the function that receives updates. ok reports whether there is one.
func (l *listeners) current() (f listener, ok bool) {
	if len(l.set) == 0 {
		return nil, false
	}
	return *l.set[len(l.set)-1], true
}

// on sets a function and removes all others.
func (l *listeners) on(f listener) { l.set = []*listener{&f} }

// try sets a function. The caller must then call keep, which removes the earlier functions, or
// drop, which removes this one.
func (l *listeners) try(f listener) (keep, drop func()) {
	mine := &f
	l.set = append(l.set, mine)
	keep = func() {
		if i := slices.Index(l.set, mine); i > 0 {
			l.set = slices.Delete(l.set, 0, i)
		}
	}
	drop = func() {
		if i := slices.Index(l.set, mine); i >= 0 {
			l.set = slices.Delete(l.set, i, i+1)
		}
	}
	return keep, drop
}

// beginReplay sets onUpdate, unless it is nil, as the function for the history that a load will
// replay. Kept updates are dropped, because the replay contains them. The caller must call ended
// with the outcome of the load.
func (s *Session) beginReplay(onUpdate listener) (ended func(ok bool), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turnInFlightLocked() {
		return nil, acp.ErrTurnRunning
	}
	s.conn.sessions.take(&s.kept)
	if onUpdate == nil {
		return func(bool) {}, nil
	}
	keep, drop := s.listeners.try(onUpdate)
	return func(ok bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if ok {
			keep()
		} else {
			drop()
		}
	}, nil
}
