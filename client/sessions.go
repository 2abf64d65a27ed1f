// Copied to draft2/client by go generate.

package client

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// These limits bound the memory for sessions, even if an agent sends updates of any number of
// unknown sessions, or a client opens sessions for years.
const (
	// Bytes of updates kept for one session without a Session or without OnUpdate, and for all of
	// them.
	keptPerSession = 1 << 20
	keptInAll      = 16 << 20
	// Number of sessions without a Session whose updates are kept, and maximum length of a
	// remembered id.
	unknownAtMost = 4096
	longestID     = 1 << 10
	// Number of remembered sessions that were opened with the plain methods, of closed ones, and of
	// those of subagents.
	recentAtMost = 4096
)

// sessions delivers updates to their Session. An agent may send updates of a session
// before the response that contains its id, and the caller sets OnUpdate only after that
// response. Until then the updates are kept.
type sessions struct {
	mu sync.Mutex // guards the fields below
	// attached holds the sessions that have a Session.
	attached map[acp.SessionID]*Session
	// plain holds the sessions that were opened with the plain methods: their updates go
	// only to Client.SessionUpdate. Each use of a plain method renews its session. Updates
	// of a session that was removed from plain are kept like those of an unknown session.
	plain recent[acp.SessionID]
	// closed holds the sessions that were closed: their late updates are dropped.
	closed recent[acp.SessionID]
	// announced holds the sessions of subagents that updates of other sessions have named.
	announced recent[acp.SessionID]
	// creating is the number of sessions that are being created. Their ids are not known yet.
	creating int
	// unknown holds the updates kept for sessions that have no Session yet. order holds
	// their ids, the oldest first; it may also hold ids that are no longer in unknown.
	unknown map[acp.SessionID]*kept
	order   []acp.SessionID
	bytes   int64 // kept in total, including attached sessions
}

// sessionUpdate handles session/update: it records the session of a subagent that the update
// names, calls the client's handler, and then delivers the update to its Session.
func (c *Conn) sessionUpdate(ctx context.Context, n *updateNotification) error {
	id, u := n.SessionID, n.Update
	if sub, ok := u.(*acp.SubagentUpdate); ok && len(sub.SessionID) <= longestID && c.HasSession(id) {
		c.sessions.mu.Lock()
		c.sessions.announced.add(sub.SessionID, recentAtMost)
		c.sessions.mu.Unlock()
	}
	defer c.deliver(ctx, id, u) // runs even if the handler panics
	return c.client.SessionUpdate(ctx, n)
}

// HasSession reports whether a question of the agent about a session can be meant: the
// session is open or being opened, or it is that of a subagent that an update has announced.
// While a session is being created, any id may be its id.
func (c *Conn) HasSession(id acp.SessionID) bool {
	s := &c.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached[id] != nil || s.plain.at[id] != nil || s.announced.at[id] != nil || s.creating > 0 && s.closed.at[id] == nil
}

// create records that a session is being created. The caller must call created when its id
// is known.
func (s *sessions) create() (created func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.creating--
	}
}

// deliver delivers an update to its Session. It is called by one goroutine at a time, in
// the order of arrival.
func (c *Conn) deliver(ctx context.Context, id acp.SessionID, u acp.SessionUpdate) {
	it := update{u: u, size: rpc.MessageSize(ctx)}
	defer c.follow(id, &it)()
	s := &c.sessions
	s.mu.Lock()
	session, full := s.attached[id], false
	if session == nil && len(id) <= longestID && s.plain.at[id] == nil && s.closed.at[id] == nil {
		full = s.keepLocked(s.unknownLocked(id), ctx, it)
	}
	s.mu.Unlock()
	if full {
		c.warnFull()
	}
	if session == nil {
		return
	}
	if f := session.route(ctx, it); f != nil {
		f(ctx, u)
	}
}

// find returns the Session of id for the user. It creates the Session if there is none.
func (c *Conn) find(id acp.SessionID) *Session {
	s := &c.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.attachLocked(c, id)
	session.held = true
	return session
}

// open returns the Session of id for a load or a resume. It creates the Session if there is none.
// The user receives the Session only if the call succeeds. The caller must call opened with the
// outcome.
func (c *Conn) open(id acp.SessionID) *Session {
	s := &c.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.attachLocked(c, id)
	session.opening++
	return session
}

// find returns the Session of id, or nil.
func (s *sessions) find(id acp.SessionID) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached[id]
}

// opened ends what open began. If the last load or resume has failed and the Session was never
// returned to the user, it is removed.
func (s *sessions) opened(session *Session, ok bool) {
	s.mu.Lock()
	session.opening--
	session.held = session.held || ok
	useless := session.opening == 0 && !session.held
	if useless {
		s.detachLocked(session)
	}
	s.mu.Unlock()
	if useless {
		session.forget()
	}
}

// attachLocked returns the Session of id. A new Session receives the updates that were kept for it.
func (s *sessions) attachLocked(c *Conn, id acp.SessionID) *Session {
	if session := s.attached[id]; session != nil {
		return session
	}
	session := &Session{conn: c, id: id}
	if k := s.unknown[id]; k != nil {
		delete(s.unknown, id)
		session.kept = *k // its bytes still count
		for _, it := range session.kept.updates {
			session.settings.track(it.u)
		}
	}
	s.plain.remove(id)
	if s.attached == nil {
		s.attached = map[acp.SessionID]*Session{}
	}
	s.attached[id] = session
	return session
}

// detach removes a Session, but not another Session with the same id.
func (s *sessions) detach(session *Session) {
	s.mu.Lock()
	s.detachLocked(session)
	s.mu.Unlock()
	session.forget()
}

func (s *sessions) detachLocked(session *Session) {
	if s.attached[session.id] == session {
		delete(s.attached, session.id)
		s.closeLocked(session.id)
	}
}

func (s *sessions) closeLocked(id acp.SessionID) {
	if len(id) <= longestID {
		s.closed.add(id, recentAtMost)
	}
}

// end records that the agent has closed or deleted a session, with or without a Session.
func (s *sessions) end(id acp.SessionID) {
	s.mu.Lock()
	session := s.attached[id]
	if session != nil || s.plain.at[id] != nil {
		delete(s.attached, id)
		s.plain.remove(id)
		s.closeLocked(id)
	}
	s.mu.Unlock()
	if session != nil {
		session.forget()
	}
}

// setPlain records that the session is used with the plain methods.
func (s *sessions) setPlain(id acp.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached[id] != nil || len(id) > longestID {
		return
	}
	s.plain.add(id, recentAtMost)
	s.closed.remove(id)
	if k := s.unknown[id]; k != nil {
		delete(s.unknown, id)
		s.takeLocked(k)
	}
}
