// Copied to draft2/client by go generate.

package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// OnUpdate sets the function for updates that arrive while no [Turn] is in flight, such as
// a replay, the list of commands, a new title, or updates for work that the agent does on
// its own. f is called with one update at a time, in order; it must use its ctx for calls
// to the agent. The next message of the connection waits until f returns. If f panics, the
// panic is logged and the next update follows.
//
// Updates that arrive before the first call of OnUpdate are kept, up to 1 MiB (16 MiB for
// all sessions of the connection). OnUpdate calls f with them before it returns. If f is
// nil, updates outside a turn are dropped.
func (s *Session) OnUpdate(f func(ctx context.Context, u acp.SessionUpdate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, listened := s.listeners.current()
	s.listeners.on(f)
	if listened || s.draining {
		return
	}
	// f is called without the lock. Updates that arrive meanwhile wait in s.waiting, so
	// that the order is kept.
	s.draining = true
	s.waiting = s.conn.sessions.take(&s.kept)
	s.drainLocked()
}

// drainLocked delivers the updates in s.waiting. It releases the lock for each update.
func (s *Session) drainLocked() {
	emptied := false
	defer func() {
		if !emptied { // f called runtime.Goexit: deliver the remaining updates
			s.drainLocked()
		}
	}()
	for len(s.waiting) > 0 {
		it := s.waiting[0]
		s.waiting[0] = update{}
		s.waiting = s.waiting[1:]
		if it.held {
			s.conn.engine.Release(it.size)
		}
		if f, _ := s.listeners.current(); f != nil {
			s.callLocked(f, it)
		}
	}
	s.draining, emptied = false, true
}

// callLocked calls f without the lock. A panic is logged, as the engine does for a
// handler's.
func (s *Session) callLocked(f listener, it update) {
	s.mu.Unlock()
	defer s.mu.Lock()
	defer func() {
		if p := recover(); p != nil {
			s.conn.log.Error("acp: panic in the function given to OnUpdate", "error", rpc.Panicked(p))
		}
	}()
	f(it.ctx, it.u)
}

// route stores an update, or returns the function that must be called with it. It is called by one
// goroutine at a time.
func (s *Session) route(ctx context.Context, it update) listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.track(it.u)
	f, listened := s.listeners.current()
	switch {
	case s.gone:
	case s.toTurnLocked(it):
	case s.draining:
		it.ctx, it.held = rpc.Detach(ctx), true
		s.conn.engine.Hold(it.size)
		s.waiting = append(s.waiting, it)
	case !listened:
		s.conn.keep(&s.kept, ctx, it)
	default:
		return f
	}
	return nil
}

// forget drops the kept updates of the session and all later ones. sessions.mu must not be locked.
func (s *Session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.conn.sessions.take(&s.kept)
	s.forgetTurnsLocked()
}

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
