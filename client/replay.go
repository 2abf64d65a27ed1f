// Copied to client/v2 by go generate.

package client

import "github.com/acpkit/go-sdk/acp"

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
