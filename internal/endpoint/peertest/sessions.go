package peertest

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/asked"
)

// Sessions replaces a client's connection in tests. It holds the open sessions.
type Sessions struct {
	mu           sync.Mutex // guards roots
	roots        map[acp.SessionID][]string
	onSessionEnd []func(acp.SessionID)
	onEnd        []func()
}

// NewSessions returns a connection with the sessions open, each in folder.
func NewSessions(folder string, ids ...acp.SessionID) *Sessions {
	s := &Sessions{roots: map[acp.SessionID][]string{}}
	for _, id := range ids {
		s.roots[id] = []string{folder}
	}
	return s
}

// Handling returns the ctx of a handler of the connection.
func (s *Sessions) Handling(ctx context.Context) context.Context { return asked.With(ctx, known{s}) }

// known is what a Sessions tells its handlers.
type known struct{ *Sessions }

func (s known) Roots(id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roots[acp.SessionID(id)]
}

func (s known) Turn(string) uint64 { return 0 }
func (s known) Has(id string) bool { return s.Roots(id) != nil }

func (s *Sessions) OnSessionEnd(f func(acp.SessionID)) { s.onSessionEnd = append(s.onSessionEnd, f) }
func (s *Sessions) OnEnd(f func())                     { s.onEnd = append(s.onEnd, f) }

// Open opens a session, or changes the folders of an open one.
func (s *Sessions) Open(id acp.SessionID, dirs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roots[id] = dirs
}

// Close closes a session.
func (s *Sessions) Close(id acp.SessionID) {
	s.mu.Lock()
	delete(s.roots, id)
	s.mu.Unlock()
	s.Ended(id)
}

// Ended calls the functions for the end of a session. The session may be open again by then.
func (s *Sessions) Ended(id acp.SessionID) {
	for _, f := range s.onSessionEnd {
		f(id)
	}
}

// End calls the functions for the end of the connection.
func (s *Sessions) End() {
	for _, f := range s.onEnd {
		f()
	}
}
