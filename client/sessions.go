package client

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// How many bytes of updates are kept for sessions that nobody has introduced yet, and
// for sessions whose OnUpdate is not set yet; of how many sessions nobody has introduced
// anything is remembered at all, and how long their ids may be; and how many sessions
// that nobody listens to any more are remembered.
const (
	keptPerSession = 1 << 20
	keptInAll      = 16 << 20
	unknownAtMost  = 4096
	unknownID      = 1 << 10
	closedAtMost   = 4096
)

// sessions brings updates to the Session they belong to. An agent may send updates of
// a session before the answer that introduces it, and a caller needs a moment to set
// OnUpdate; until then they are kept.
type sessions struct {
	conn *Conn

	mu sync.Mutex // guards all below
	// attached holds the sessions that have a Session.
	attached map[acp.SessionID]*Session
	// plain holds the sessions that were opened with the plain methods: nobody but
	// Client.SessionUpdate wants their updates.
	plain map[acp.SessionID]struct{}
	// closed holds the sessions that had a Session and are closed, and past their ids
	// with the oldest first: what an agent still says of them is of no interest.
	closed map[acp.SessionID]struct{}
	past   []acp.SessionID
	// unknown holds what is kept for sessions that nobody has introduced, order their
	// ids with the oldest first, and some that are introduced by now.
	unknown map[acp.SessionID]*kept
	order   []acp.SessionID
	bytes   int64 // kept in all, for attached sessions too
}

// kept is the beginning of a session's updates. Once some had to be dropped, all later
// ones are, because a gap would be worse than an end.
type kept struct {
	updates []update
	bytes   int64
	full    bool
}

// update is one update with what is needed to hand it out later.
type update struct {
	ctx  context.Context // of its handler, detached; set only while it is kept
	u    acp.SessionUpdate
	size int64
}

func (s *sessions) init(c *Conn) {
	s.conn = c
	s.attached = map[acp.SessionID]*Session{}
	s.plain = map[acp.SessionID]struct{}{}
	s.closed = map[acp.SessionID]struct{}{}
	s.unknown = map[acp.SessionID]*kept{}
}

// deliver brings an update to its Session. It is called by the handler of updates,
// that is by one goroutine at a time and in the order of arrival.
func (s *sessions) deliver(ctx context.Context, id acp.SessionID, u acp.SessionUpdate) {
	it := update{u: u, size: rpc.MessageSize(ctx)}
	s.mu.Lock()
	session := s.attached[id]
	if session == nil && !s.ignoredLocked(id) {
		s.keepLocked(s.unknownLocked(id), ctx, it)
	}
	s.mu.Unlock()
	if session != nil {
		session.deliver(ctx, it)
	}
}

// ignoredLocked tells whether nobody wants to hear of the session, nor will.
func (s *sessions) ignoredLocked(id acp.SessionID) bool {
	if len(id) > unknownID {
		return true
	}
	_, plain := s.plain[id]
	_, closed := s.closed[id]
	return plain || closed
}

// keep keeps an update in k if there is room.
func (s *sessions) keep(k *kept, ctx context.Context, it update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepLocked(k, ctx, it)
}

func (s *sessions) keepLocked(k *kept, ctx context.Context, it update) {
	if k.full {
		return
	}
	if k.bytes+it.size <= keptPerSession {
		s.makeRoomLocked(k, it.size)
	}
	if k.bytes+it.size > keptPerSession || s.bytes+it.size > keptInAll {
		k.full = true
		s.conn.log.Warn("acp: updates of a session that nobody listens to are dropped",
			"kept", len(k.updates), "bytes", k.bytes)
		return
	}
	it.ctx = rpc.Detach(ctx)
	k.updates = append(k.updates, it)
	k.bytes += it.size
	s.bytes += it.size
}

// unknownLocked returns what is kept for a session that nobody has introduced. An agent
// that makes up sessions without end makes the oldest of them be forgotten.
func (s *sessions) unknownLocked(id acp.SessionID) *kept {
	if k := s.unknown[id]; k != nil {
		return k
	}
	if len(s.order) >= unknownAtMost {
		if k := s.unknown[s.order[0]]; k != nil {
			s.takeLocked(k)
			delete(s.unknown, s.order[0])
		}
		s.order[0] = ""
		s.order = s.order[1:]
	}
	k := &kept{}
	s.unknown[id] = k
	s.order = append(s.order, id)
	return k
}

// makeRoomLocked drops what is kept for the oldest sessions other than that of k. The
// answer that introduces a session is never far, so they will hardly be asked for.
func (s *sessions) makeRoomLocked(k *kept, size int64) {
	for _, id := range s.order {
		if s.bytes+size <= keptInAll {
			return
		}
		if old := s.unknown[id]; old != nil && old != k && old.bytes > 0 {
			s.takeLocked(old)
			old.full = true
		}
	}
}

// take empties k.
func (s *sessions) take(k *kept) []update {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeLocked(k)
}

func (s *sessions) takeLocked(k *kept) []update {
	if k == nil {
		return nil
	}
	s.bytes -= k.bytes
	updates := k.updates
	*k = kept{}
	return updates
}

// find returns the Session of id, and makes one, with what was kept for it, if there is
// none.
func (s *sessions) find(id acp.SessionID) (session *Session, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.attached[id]; session != nil {
		return session, false
	}
	session = &Session{conn: s.conn, id: id}
	if k := s.unknown[id]; k != nil {
		delete(s.unknown, id)
		session.kept = *k // its bytes stay counted
	}
	delete(s.plain, id)
	s.attached[id] = session
	return session, true
}

// detach forgets session, and wants to hear no more of it. Another Session of the same
// id stays.
func (s *sessions) detach(session *Session) {
	s.mu.Lock()
	if s.attached[session.id] == session {
		delete(s.attached, session.id)
		s.closeLocked(session.id)
	}
	s.mu.Unlock()
	session.forget()
}

// closeLocked remembers a session that is closed. A client may open and close sessions
// for years, so those that were closed long ago are forgotten.
func (s *sessions) closeLocked(id acp.SessionID) {
	if _, known := s.closed[id]; known || len(id) > unknownID {
		return
	}
	if len(s.past) >= closedAtMost {
		delete(s.closed, s.past[0])
		s.past[0] = ""
		s.past = s.past[1:]
	}
	s.closed[id] = struct{}{}
	s.past = append(s.past, id)
}

// end notes that the agent has closed or deleted a session, in whoever's hands it was.
func (s *sessions) end(id acp.SessionID) {
	s.mu.Lock()
	session := s.attached[id]
	if _, plain := s.plain[id]; plain || session != nil {
		delete(s.plain, id)
		delete(s.attached, id)
		s.closeLocked(id)
	}
	s.mu.Unlock()
	if session != nil {
		session.forget()
	}
}

// setPlain notes that the session is in the hands of somebody who uses the plain
// methods.
func (s *sessions) setPlain(id acp.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached[id] != nil {
		return
	}
	s.plain[id] = struct{}{}
	delete(s.closed, id)
	if k := s.unknown[id]; k != nil {
		delete(s.unknown, id)
		s.takeLocked(k)
	}
}

// sessionUpdate stands between the agent's update and the client's handler, which sees
// every update first.
func (c *Conn) sessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	id, u := n.SessionID, n.Update
	defer c.sessions.deliver(ctx, id, u) // also when the handler panics
	return c.client.SessionUpdate(ctx, n)
}
