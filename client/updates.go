package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// OnUpdate sets the function that gets the updates which arrive while no [Turn] runs:
// the replay of a loaded session, the list of commands, a new title, the work an agent
// does on its own. It gets them one at a time and in order, with a ctx to be used for
// calling the agent; the next message of the connection waits until it returns.
//
// Updates that arrived before the first call of OnUpdate are kept, up to 1 MiB (16 MiB
// for all sessions of the connection), and handed to f before OnUpdate returns. Nil
// takes the function away and says that updates outside a turn are of no interest.
func (s *Session) OnUpdate(f func(ctx context.Context, u acp.SessionUpdate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onUpdate = f
	if s.listened {
		return
	}
	s.listened = true
	// f is called without the lock. What arrives meanwhile queues up behind, so that
	// the order stays.
	s.draining = true
	defer func() { s.draining = false }()
	for _, it := range s.conn.sessions.take(&s.kept) {
		s.handLocked(it)
	}
	for len(s.behind) > 0 {
		it := s.behind[0]
		s.behind = s.behind[1:]
		s.conn.engine.Get().Release(it.size)
		s.handLocked(it)
	}
}

// handLocked gives an update that had to wait to whatever function is set by now. It
// gives the lock up meanwhile.
func (s *Session) handLocked(it update) {
	if f := s.onUpdate; f != nil {
		s.mu.Unlock()
		defer s.mu.Lock()
		f(it.ctx, it.u)
	}
}

// deliver takes an update that has arrived. It is called by one goroutine at a time.
func (s *Session) deliver(ctx context.Context, it update) {
	if f := s.route(ctx, it); f != nil {
		f(ctx, it.u)
	}
}

// route stores the update or returns the function that gets it now.
func (s *Session) route(ctx context.Context, it update) func(context.Context, acp.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.track(it.u)
	switch {
	case s.gone:
	case s.turn != nil:
		s.turn.push(it)
	case !s.listened:
		s.conn.sessions.keep(&s.kept, ctx, it)
	case s.draining:
		it.ctx = rpc.Detach(ctx)
		s.conn.engine.Get().Hold(it.size)
		s.behind = append(s.behind, it)
	default:
		return s.onUpdate
	}
	return nil
}

// beginReplay makes onUpdate, if there is one, hear the history that is about to be told
// from the start. What was kept before is part of it and dropped. Undo takes the function
// away again.
func (s *Session) beginReplay(onUpdate func(context.Context, acp.SessionUpdate)) (undo func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return nil, acp.ErrTurnRunning
	}
	s.conn.sessions.take(&s.kept)
	before, listened := s.onUpdate, s.listened
	if onUpdate != nil {
		s.onUpdate, s.listened = onUpdate, true
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.onUpdate, s.listened = before, listened
	}, nil
}

// forget drops what the session keeps; it gets no more.
func (s *Session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.conn.sessions.take(&s.kept)
}
