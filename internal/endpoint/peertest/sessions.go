package peertest

import (
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// Sessions stands for a client's connection with the sessions that are open on it.
type Sessions struct {
	mu           sync.Mutex // guards roots
	roots        map[acp.SessionID][]string
	onSessionEnd []func(acp.SessionID)
	onEnd        []func()
}

// NewSessions returns a connection on which the sessions are open, each in the folder.
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

// Open opens a session, or gives an open one other folders.
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

// Ended reports the end of a session, which may have been opened again by then.
func (s *Sessions) Ended(id acp.SessionID) {
	for _, f := range s.onSessionEnd {
		f(id)
	}
}

// End reports the end of the connection.
func (s *Sessions) End() {
	for _, f := range s.onEnd {
		f()
	}
}
