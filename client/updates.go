// Copied to client/v2 by go generate.

package client

import (
	"context"

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

// deliver stores an update or calls the function for it. It is called by one goroutine at a time.
func (s *Session) deliver(ctx context.Context, it update) {
	if f := s.route(ctx, it); f != nil {
		f(ctx, it.u)
	}
}

// route stores the update, or returns the function that must be called with it.
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
