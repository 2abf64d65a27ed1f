package peertest

import (
	"sync"

	"github.com/acpkit/go-sdk/acp"
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

func (s *Sessions) SessionRoots(id acp.SessionID) ([]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirs, ok := s.roots[id]
	return dirs, ok
}

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
