package adapter

import (
	"slices"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// maxResting is how many sessions that are not open are remembered. These are closed sessions,
// whose updates must not reach the client, and sessions that only the agent has named, such as
// those of subagents.
const maxResting = 256

// session returns the session with that id. It creates the session if necessary, because the agent
// may send updates of a session before the response that opens it.
func (a *adapter) session(id acp.SessionID) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	if s == nil {
		s = a.makeLocked(id)
		a.restLocked(s)
	} else if s.rests {
		a.restLocked(s)
	}
	return s
}

// lookup returns the session with that id, or nil.
func (a *adapter) lookup(id acp2.SessionID) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[acp.SessionID(id)]
}

// known returns a session that is open on this connection, or an error.
func (a *adapter) known(id acp2.SessionID) (*session, error) {
	if s := a.lookup(id); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open {
			return s, nil
		}
	}
	return nil, rpcerr.SessionNotFound(string(id))
}

func (a *adapter) makeLocked(id acp.SessionID) *session {
	s := &session{id: id, titles: map[acp.ToolCallID]string{}, others: map[string]struct{}{}, asked: map[chan struct{}]struct{}{}}
	a.sessions[id] = s
	return s
}

// restLocked moves a session that is not open to the end of resting, and forgets the first one if
// there are too many.
func (a *adapter) restLocked(s *session) {
	a.wakeLocked(s)
	s.rests = true
	if a.resting = append(a.resting, s); len(a.resting) > maxResting {
		oldest := a.resting[0]
		a.wakeLocked(oldest)
		delete(a.sessions, oldest.id)
	}
}

func (a *adapter) wakeLocked(s *session) {
	if s.rests {
		s.rests = false
		i := slices.Index(a.resting, s)
		a.resting = slices.Delete(a.resting, i, i+1)
	}
}

// hold returns the session with that id. The session is not forgotten until release is called. If
// release finds that it was created by hold and is not open, the session is forgotten.
func (a *adapter) hold(id acp.SessionID) (s *session, release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s = a.sessions[id]
	existed := s != nil
	if !existed {
		s = a.makeLocked(id)
	}
	a.wakeLocked(s)
	s.holds++
	return s, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		s.holds--
		switch {
		case s.holds > 0 || slices.Contains(a.opened, id):
		case existed:
			a.restLocked(s)
		default:
			delete(a.sessions, id)
		}
	}
}

// opens records that a session is open on this connection.
func (a *adapter) opens(id acp.SessionID, cwd acp2.AbsolutePath, directories []acp2.AbsolutePath) *session {
	s, release := a.hold(id)
	defer release()
	s.mu.Lock()
	s.open, s.closed = true, false
	s.info.SessionID, s.info.Cwd, s.info.AdditionalDirectories = acp2.SessionID(id), cwd, slices.Clone(directories)
	s.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.opened, id) {
		a.opened = append(a.opened, id)
	}
	return s
}

// forgets records that a session is no longer open.
func (a *adapter) forgets(id acp2.SessionID) {
	own := acp.SessionID(id)
	a.mu.Lock()
	s := a.sessions[own]
	a.opened = slices.DeleteFunc(a.opened, func(o acp.SessionID) bool { return o == own })
	if s != nil && s.holds == 0 {
		a.restLocked(s)
	}
	a.mu.Unlock()
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open, s.closed = false, true
		s.settings, s.messages = settings{}, messages{}
		clear(s.titles)
		clear(s.others)
	}
}
