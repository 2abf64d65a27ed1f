// Package talk has what the clients of all versions of the protocol share: it delivers the updates
// of sessions to turns and listeners, keeps them until somebody listens, orders settings, ends the
// questions to the user when a turn is cancelled, and explains errors. It knows no version and no
// vocabulary. Its type parameter U is the type of updates; ids are texts.
package talk

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// These limits bound the memory for sessions, even if an agent sends updates of any number of
// unknown sessions, or a client opens sessions for years.
const (
	// Bytes of updates kept for one session without a Session or without OnUpdate, and for all of
	// them.
	keptPerSession = 1 << 20
	keptInAll      = 16 << 20
	// Number of sessions without a Session whose updates are kept.
	unknownAtMost = 4096
	// Number of remembered sessions that were opened with the plain methods, of closed ones, and of
	// those of subagents.
	recentAtMost = 4096
	// LongestID is the maximum length of a remembered id.
	LongestID = 1 << 10
)

// Version is what a Conn has of its own in a version of the protocol.
type Version[U any] interface {
	Engine() *rpc.Conn
	// NewSession returns the Session in a new session of the version.
	NewSession(id string) *Session[U]
	// Track is called with each update of a session, with the lock of the session.
	Track(s *Session[U], u U)
	// Follow lets an update begin and end turns before it is delivered. It returns the turn that
	// the update belongs to; nil means that Session.Begin decides. It returns what to call after the
	// update was delivered, or nil.
	Follow(id string, u U) (turn *Feed[U], delivered func())
	// InFlight reports whether a turn of the session is in flight that Session.Begin does not know.
	InFlight(s *Session[U]) bool
	// Gone is called when s receives no more updates.
	Gone(s *Session[U])
	// Ended is called when a session has been closed or deleted.
	Ended(id string)
}

// Sessions delivers updates to their Session. An agent may send updates of a session before the
// response that contains its id, and the caller sets OnUpdate only after that response. Until then
// the updates are kept.
type Sessions[U any] struct {
	mu sync.Mutex // guards the fields below
	// attached holds the sessions that have a Session.
	attached map[string]*Session[U]
	// plain holds the sessions that were opened with the plain methods: their updates go
	// only to Client.SessionUpdate. Each use of a plain method renews its session. Updates
	// of a session that was removed from plain are kept like those of an unknown session.
	plain Recent
	// closed holds the sessions that were closed: their late updates are dropped.
	closed Recent
	// announced holds the sessions of subagents that updates of other sessions have named.
	announced Recent
	// creating is the number of sessions that are being created. Their ids are not known yet.
	creating int
	// unknown holds the updates kept for sessions that have no Session yet. order holds
	// their ids, the oldest first; it may also hold ids that are no longer in unknown.
	unknown map[string]*kept[U]
	order   []string
	bytes   int64 // kept in total, including attached sessions
	ends    []func(id string)
}

// Announce records the session of a subagent that an update of the session id has named.
func (b *Sessions[U]) Announce(id, subagent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hasLocked(id) {
		b.announced.Add(subagent, recentAtMost)
	}
}

// WithSubagents returns a function like sessionOf that reports false for the sessions of subagents:
// their messages belong to other sessions too.
func (b *Sessions[U]) WithSubagents(sessionOf func(params any) (string, bool)) func(params any) (string, bool) {
	return func(params any) (string, bool) {
		id, ok := sessionOf(params)
		if !ok {
			return "", false
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		return id, !b.announced.Has(id)
	}
}

// Has reports whether a question of the agent about a session can be meant: the session is open or
// being opened, or it is that of a subagent that an update has announced. While a session is being
// created, any id may be its id.
func (b *Sessions[U]) Has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hasLocked(id)
}

func (b *Sessions[U]) hasLocked(id string) bool {
	return b.opened(id) || b.announced.Has(id) || b.creating > 0 && !b.closed.Has(id)
}

func (b *Sessions[U]) opened(id string) bool { return b.attached[id] != nil || b.plain.Has(id) }

// Knows reports whether this end has opened the session.
func (b *Sessions[U]) Knows(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened(id)
}

// Create records that a session is being created. The caller must call created when its id
// is known.
func (b *Sessions[U]) Create() (created func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.creating++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.creating--
	}
}

// Deliver delivers an update to its Session. It is called by one goroutine at a time, in
// the order of arrival.
func (b *Sessions[U]) Deliver(ctx context.Context, v Version[U], id string, u U) {
	it := update[U]{u: u, size: rpc.MessageSize(ctx)}
	turn, delivered := v.Follow(id, u)
	if delivered != nil {
		defer delivered()
	}
	b.mu.Lock()
	session, full, strange := b.attached[id], false, false
	if session == nil && len(id) <= LongestID && !b.plain.Has(id) && !b.closed.Has(id) {
		strange = b.unknown[id] == nil && !b.hasLocked(id)
		full = b.keepLocked(b.unknownLocked(id), ctx, it)
	}
	b.mu.Unlock()
	if strange {
		v.Engine().Logger().Warn("acp: received an update of a session that is not open: until it is opened, only Client.SessionUpdate sees its updates",
			"session", safetext.OneLine(id, 100))
	}
	if full {
		warnFull(v.Engine())
	}
	if session == nil {
		return
	}
	if f := session.route(ctx, it, turn); f != nil {
		f(ctx, u)
	}
}

// Attach returns the Session of id for the user. It creates the Session if there is none.
func (b *Sessions[U]) Attach(v Version[U], id string) *Session[U] {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.attachLocked(v, id)
	s.returned = true
	return s
}

// Open returns the Session of id for a load or a resume. It creates the Session if there is none.
// The user receives the Session only if the call succeeds. The caller must call Opened with the
// outcome.
func (b *Sessions[U]) Open(v Version[U], id string) *Session[U] {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.attachLocked(v, id)
	s.opening++
	return s
}

// Opened ends what Open began. If the last load or resume has failed and the Session was never
// returned to the user, it is removed.
func (b *Sessions[U]) Opened(s *Session[U], ok bool) {
	b.mu.Lock()
	s.opening--
	s.returned = s.returned || ok
	useless := s.opening == 0 && !s.returned
	if useless {
		b.detachLocked(s)
	}
	b.mu.Unlock()
	if useless {
		s.forget()
	}
}

// Find returns the Session of id, or nil.
func (b *Sessions[U]) Find(id string) *Session[U] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attached[id]
}

// attachLocked returns the Session of id. A new Session receives the updates that were kept for it.
func (b *Sessions[U]) attachLocked(v Version[U], id string) *Session[U] {
	if s := b.attached[id]; s != nil {
		return s
	}
	s := v.NewSession(id)
	s.book, s.version, s.id, s.order.mu = b, v, id, &s.Mu
	if k := b.unknown[id]; k != nil {
		delete(b.unknown, id)
		s.kept = *k // its bytes still count
		for _, it := range s.kept.updates {
			v.Track(s, it.u)
		}
	}
	b.plain.remove(id)
	if b.attached == nil {
		b.attached = map[string]*Session[U]{}
	}
	b.attached[id] = s
	return s
}

// SetPlain records that the session is used with the plain methods.
func (b *Sessions[U]) SetPlain(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.attached[id] != nil || len(id) > LongestID {
		return
	}
	b.plain.Add(id, recentAtMost)
	b.closed.remove(id)
	if k := b.unknown[id]; k != nil {
		delete(b.unknown, id)
		b.takeLocked(k)
	}
}
