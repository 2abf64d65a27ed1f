package thread

import (
	"context"
	"iter"
	"slices"
)

// Part names a part of a [Snapshot].
type Part int

// The parts of a snapshot.
const (
	// PartAll is the whole thread: this is the first snapshot, or the thread was reset or
	// restored, or contents were dropped.
	PartAll Part = iota
	// PartItem is the item at Change.Index of Snapshot.Items.
	PartItem
	// PartTerminal is the terminal at Change.Index of Snapshot.Terminals.
	PartTerminal
	// PartQueued is Snapshot.Queued.
	PartQueued
	// PartPlans is Snapshot.Plans.
	PartPlans
	// PartPermissions is Snapshot.Permissions.
	PartPermissions
	// PartUsage is Snapshot.Usage.
	PartUsage
	// PartModes is Snapshot.Modes.
	PartModes
	// PartOptions is Snapshot.Options.
	PartOptions
	// PartCommands is Snapshot.Commands.
	PartCommands
	// PartInfo is Snapshot.Title, UpdatedAt and Meta.
	PartInfo
	// PartTurn is Snapshot.Turn.
	PartTurn
	// PartSuggestions is Snapshot.Suggestions.
	PartSuggestions
	// PartCursors is Snapshot.Cursors.
	PartCursors

	partEnd
)

// Change describes one change between two snapshots.
type Change struct {
	Part Part
	// Index is the index of the item or terminal; 0 for other parts.
	Index int
	// New reports whether the item or terminal is absent from the previous snapshot.
	New bool
}

// Watch returns an iterator over snapshots, each with the changes since the previous one.
// The first snapshot is yielded at once, with PartAll. A slow loop misses snapshots but no
// change: all changes during one iteration are combined in the next one, which names each
// part once, in the order of the last changes. Any number of loops may run; none delays
// another one or the session. The iteration ends when ctx is done.
func (t *Thread) Watch(ctx context.Context) iter.Seq2[*Snapshot, []Change] {
	return func(yield func(*Snapshot, []Change) bool) {
		seen, first := uint64(0), true
		for {
			s, changes, wake := t.step(seen, first)
			if wake == nil {
				seen, first = s.Revision, false
				if !yield(s, changes) {
					return
				}
				if ctx.Err() != nil {
					return
				}
				continue
			}
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Since returns the current snapshot, and what has changed since an earlier one of the thread, as [Thread.Watch]
// tells it. It does not wait: changes are nil if there are none. With nil as the earlier one, all is new. Use it
// to draw in another loop than Watch; the cost is proportional to the changes.
func (t *Thread) Since(earlier *Snapshot) (now *Snapshot, changes []Change) {
	seen := uint64(0)
	if earlier != nil {
		seen = earlier.Revision
	}
	now, changes, wake := t.step(seen, earlier == nil)
	if wake != nil {
		return earlier, nil
	}
	return now, changes
}

// step returns what has changed since the revision seen, or a channel that is closed when
// something does.
func (t *Thread) step(seen uint64, first bool) (*Snapshot, []Change, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first || t.reset > seen {
		return t.snapshot(), []Change{{Part: PartAll}}, nil
	}
	if t.revision == seen {
		if t.wake == nil {
			t.wake = make(chan struct{})
		}
		return nil, nil, t.wake
	}
	var changes []Change
	for e := t.ring.older; e != &t.ring && e.changed > seen; e = e.older {
		changes = append(changes, Change{Part: e.part, Index: e.index, New: e.node != nil && e.created > seen})
	}
	slices.Reverse(changes)
	return t.snapshot(), changes, nil
}

func (t *Thread) wakeReaders() {
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
}
