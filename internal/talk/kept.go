package talk

import (
	"container/list"
	"context"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// kept holds the first updates of a session. After one update was dropped for lack of room, all
// later ones are dropped, so that there is no gap in the middle.
type kept[U any] struct {
	updates []update[U]
	bytes   int64
	full    bool
}

// update is an update with the data for delivering it later.
type update[U any] struct {
	ctx  context.Context // the detached ctx of its handler; set only while it is kept
	u    U
	size int64
	held bool // it counts against the backlog
}

// keep keeps an update of a Session if there is room.
func (s *Session[U]) keep(ctx context.Context, it update[U]) {
	s.book.mu.Lock()
	full := s.book.keepLocked(&s.kept, ctx, it)
	s.book.mu.Unlock()
	if full {
		warnFull(s.version.Engine())
	}
}

func warnFull(engine *rpc.Conn) {
	engine.Logger().Warn("acp: dropping updates of a session without a listener: set OnUpdate", "limit", keptPerSession)
}

// keepLocked keeps an update in k if there is room. It reports whether k has become full now.
func (b *Sessions[U]) keepLocked(k *kept[U], ctx context.Context, it update[U]) (full bool) {
	if k.full {
		return false
	}
	if k.bytes+it.size <= keptPerSession {
		b.makeRoomLocked(k, it.size)
	}
	if k.bytes+it.size > keptPerSession || b.bytes+it.size > keptInAll {
		k.full = true
		return true
	}
	it.ctx = rpc.Detach(ctx)
	k.updates = append(k.updates, it)
	k.bytes += it.size
	b.bytes += it.size
	return false
}

// unknownLocked returns the updates kept for a session without a Session. If there are too many
// such sessions, it forgets the oldest.
func (b *Sessions[U]) unknownLocked(id string) *kept[U] {
	if k := b.unknown[id]; k != nil {
		return k
	}
	if len(b.order) >= unknownAtMost {
		if k := b.unknown[b.order[0]]; k != nil {
			b.takeLocked(k)
			delete(b.unknown, b.order[0])
		}
		b.order[0] = ""
		b.order = b.order[1:]
	}
	k := &kept[U]{}
	if b.unknown == nil {
		b.unknown = map[string]*kept[U]{}
	}
	b.unknown[id] = k
	b.order = append(b.order, id)
	return k
}

// makeRoomLocked drops updates of sessions other than that of k, the oldest first. The response
// with the id of a session usually arrives soon after its first updates, so old ones are unlikely
// to be needed.
func (b *Sessions[U]) makeRoomLocked(k *kept[U], size int64) {
	for _, id := range b.order {
		if b.bytes+size <= keptInAll {
			return
		}
		if old := b.unknown[id]; old != nil && old != k && old.bytes > 0 {
			b.takeLocked(old)
			old.full = true
		}
	}
}

// take removes and returns the updates in k.
func (b *Sessions[U]) take(k *kept[U]) []update[U] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeLocked(k)
}

func (b *Sessions[U]) takeLocked(k *kept[U]) []update[U] {
	b.bytes -= k.bytes
	updates := k.updates
	*k = kept[U]{}
	return updates
}

// Recent is a set of the texts that were added last.
type Recent struct {
	at    map[string]*list.Element
	order list.List // of string; the one added last is first
}

// Has reports whether the set contains id.
func (r *Recent) Has(id string) bool { return r.at[id] != nil }

// Add adds id. If there are most ids, it removes the least recently added one. An id that is
// longer than LongestID is not remembered.
func (r *Recent) Add(id string, most int) {
	if len(id) > LongestID {
		return
	}
	if e := r.at[id]; e != nil {
		r.order.MoveToFront(e)
		return
	}
	if r.at == nil {
		r.at = map[string]*list.Element{}
	}
	if len(r.at) >= most {
		r.remove(r.order.Back().Value.(string))
	}
	r.at[id] = r.order.PushFront(id)
}

func (r *Recent) remove(id string) {
	if e := r.at[id]; e != nil {
		r.order.Remove(e)
		delete(r.at, id)
	}
}
