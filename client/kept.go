// Copied to draft2/client by go generate.

package client

import (
	"container/list"
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// kept holds the first updates of a session. After one update was dropped for lack of room, all
// later ones are dropped, so that there is no gap in the middle.
type kept struct {
	updates []update
	bytes   int64
	full    bool
}

// update is an update with the data for delivering it later.
type update struct {
	versionedUpdate                 // first, because an empty field at the end would take memory
	ctx             context.Context // the detached ctx of its handler; set only while it is kept
	u               acp.SessionUpdate
	size            int64
	held            bool // it counts against the backlog
}

// keep keeps an update of a Session if there is room.
func (c *Conn) keep(k *kept, ctx context.Context, it update) {
	s := &c.sessions
	s.mu.Lock()
	full := s.keepLocked(k, ctx, it)
	s.mu.Unlock()
	if full {
		c.warnFull()
	}
}

func (c *Conn) warnFull() {
	c.log.Warn("acp: dropping updates of a session without a listener: set OnUpdate", "limit", keptPerSession)
}

// keepLocked keeps an update in k if there is room. It reports whether k has become full now.
func (s *sessions) keepLocked(k *kept, ctx context.Context, it update) (full bool) {
	if k.full {
		return false
	}
	if k.bytes+it.size <= keptPerSession {
		s.makeRoomLocked(k, it.size)
	}
	if k.bytes+it.size > keptPerSession || s.bytes+it.size > keptInAll {
		k.full = true
		return true
	}
	it.ctx = rpc.Detach(ctx)
	k.updates = append(k.updates, it)
	k.bytes += it.size
	s.bytes += it.size
	return false
}

// unknownLocked returns the updates kept for a session without a Session. If there are too many
// such sessions, it forgets the oldest.
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
	if s.unknown == nil {
		s.unknown = map[acp.SessionID]*kept{}
	}
	s.unknown[id] = k
	s.order = append(s.order, id)
	return k
}

// makeRoomLocked drops updates of sessions other than that of k, the oldest first. The response
// with the id of a session usually arrives soon after its first updates, so old ones are unlikely
// to be needed.
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

// take removes and returns the updates in k.
func (s *sessions) take(k *kept) []update {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeLocked(k)
}

func (s *sessions) takeLocked(k *kept) []update {
	s.bytes -= k.bytes
	updates := k.updates
	*k = kept{}
	return updates
}

// recent is a set of the values that were added last.
type recent[T comparable] struct {
	at    map[T]*list.Element // nil for a value that is not in the set
	order list.List           // of T; the value added last is first
}

// add adds v. If there are most values, it removes the least recently added one.
func (r *recent[T]) add(v T, most int) {
	if e := r.at[v]; e != nil {
		r.order.MoveToFront(e)
		return
	}
	if r.at == nil {
		r.at = map[T]*list.Element{}
	}
	if len(r.at) >= most {
		r.remove(r.order.Back().Value.(T))
	}
	r.at[v] = r.order.PushFront(v)
}

func (r *recent[T]) remove(v T) {
	if e := r.at[v]; e != nil {
		r.order.Remove(e)
		delete(r.at, v)
	}
}
