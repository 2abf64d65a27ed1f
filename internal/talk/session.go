package talk

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Session delivers the updates of one session. A session of a version contains it.
type Session[U any] struct {
	Owner   any // the session of the version
	book    *Sessions[U]
	version Version[U]
	id      string

	// book.mu guards these fields.
	returned bool // to the user
	opening  int  // number of loads and resumes in flight

	Mu        sync.Mutex // guards the fields below and the settings of the owner; locked before book.mu
	listeners listeners[U]
	draining  bool        // OnUpdate is receiving the updates in waiting
	kept      kept[U]     // updates outside of a turn, until there is a listener
	waiting   []update[U] // updates to be delivered while draining
	gone      bool        // it was detached
	turn      *Feed[U]    // the turn in flight, or nil
	order     Order       // of the settings
}

// Order returns the order of the session's settings.
func (s *Session[U]) Order() *Order { return &s.order }

// ErrSessionClosed is the error of a turn whose session was closed.
var ErrSessionClosed = errors.New("client: the session was closed")

// Begin makes a turn the one that receives all updates of the session.
func (s *Session[U]) Begin(turn *Feed[U]) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.gone {
		return ErrSessionClosed
	}
	if s.turn != nil {
		return wire.ErrTurnRunning
	}
	s.turn = turn
	return nil
}

// End detaches a turn, so that later updates go to the listener. It is called between the updates
// that were read before and after the response.
func (s *Session[U]) End(turn *Feed[U]) {
	s.Mu.Lock()
	if s.turn == turn {
		s.turn = nil
	}
	s.Mu.Unlock()
	turn.Close()
}

// GoneLocked reports whether the session was closed.
func (s *Session[U]) GoneLocked() bool { return s.gone }

// OnUpdate sets the function for updates outside of turns, and calls it with those that were kept.
// A panic of f is logged, and the next update follows.
func (s *Session[U]) OnUpdate(f func(context.Context, U)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	_, listened := s.listeners.current()
	s.listeners.on(f)
	if listened || s.draining {
		return
	}
	// f is called without the lock. Updates that arrive meanwhile wait in s.waiting, so
	// that the order is kept.
	s.draining = true
	s.waiting = s.book.take(&s.kept)
	s.drainLocked()
}

// drainLocked delivers the updates in s.waiting. It releases the lock for each update.
func (s *Session[U]) drainLocked() {
	emptied := false
	defer func() {
		if !emptied { // f called runtime.Goexit: deliver the remaining updates
			s.drainLocked()
		}
	}()
	for len(s.waiting) > 0 {
		it := s.waiting[0]
		s.waiting[0] = update[U]{}
		s.waiting = s.waiting[1:]
		if it.held {
			s.version.Engine().Release(it.size)
		}
		if f, _ := s.listeners.current(); f != nil {
			s.callLocked(f, it)
		}
	}
	s.draining, emptied = false, true
}

// callLocked calls f without the lock. A panic is logged, as the engine does for a
// handler's.
func (s *Session[U]) callLocked(f listener[U], it update[U]) {
	s.Mu.Unlock()
	defer s.Mu.Lock()
	defer func() {
		if p := recover(); p != nil {
			s.version.Engine().Logger().Error("acp: panic in the function given to OnUpdate", "error", rpc.Panicked(p))
		}
	}()
	f(it.ctx, it.u)
}

// route stores an update, or returns the function that must be called with it. turn is the one that
// the update belongs to; nil means the one in flight. It is called by one goroutine at a time.
func (s *Session[U]) route(ctx context.Context, it update[U], turn *Feed[U]) listener[U] {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.version.Track(s, it.u)
	if turn == nil {
		turn = s.turn
	}
	f, listened := s.listeners.current()
	switch {
	case s.gone:
	case turn != nil && turn.push(it):
	case s.draining:
		it.ctx, it.held = rpc.Detach(ctx), true
		s.version.Engine().Hold(it.size)
		s.waiting = append(s.waiting, it)
	case !listened:
		s.keep(ctx, it)
	default:
		return f
	}
	return nil
}

// forget drops the kept updates of the session and all later ones. book.mu must not be locked.
func (s *Session[U]) forget() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.gone = true
	s.book.take(&s.kept)
	s.version.Gone(s)
}

// Replay sets onUpdate, unless it is nil, as the function for the history that a load will replay.
// Kept updates are dropped, because the replay contains them. The caller must call ended with the
// outcome of the load.
func (s *Session[U]) Replay(onUpdate func(context.Context, U)) (ended func(ok bool), err error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.turn != nil || s.version.InFlight(s) {
		return nil, wire.ErrTurnRunning
	}
	s.book.take(&s.kept)
	if onUpdate == nil {
		return func(bool) {}, nil
	}
	keep, drop := s.listeners.try(onUpdate)
	return func(ok bool) {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if ok {
			keep()
		} else {
			drop()
		}
	}, nil
}

// listener is a function for updates outside of a turn. A nil listener drops them.
type listener[U any] func(context.Context, U)

// listeners holds the functions for a session's updates outside of a turn. The function that was
// set last, by OnUpdate or by a load, receives the updates. A load that fails removes its function,
// even if others were set after it.
type listeners[U any] struct {
	set []*listener[U] // the last one receives the updates; a failed load restores the one before
}

// current returns the function that receives updates. ok reports whether there is one.
func (l *listeners[U]) current() (f listener[U], ok bool) {
	if len(l.set) == 0 {
		return nil, false
	}
	return *l.set[len(l.set)-1], true
}

// on sets a function and removes all others.
func (l *listeners[U]) on(f listener[U]) { l.set = []*listener[U]{&f} }

// try sets a function. The caller must then call keep, which removes the earlier functions, or
// drop, which removes this one.
func (l *listeners[U]) try(f listener[U]) (keep, drop func()) {
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
