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
	// PartAll is the whole thread: it is new to the reader, or it was reset.
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

	partEnd
)

// Change says what has changed between two snapshots.
type Change struct {
	Part Part
	// Index is that of an item or a terminal, else 0.
	Index int
	// New reports that the item or terminal was not there in the snapshot before.
	New bool
}

// Watch returns a sequence of snapshots, each with what has changed since the one before.
// The first comes at once, with PartAll. A reader that is slow misses snapshots but no
// change: what changes while it is busy is one step for it, in which each part is named
// once, in the order of the last changes. Any number of readers may watch; each has its
// own pace, and none slows down the session. The sequence ends when ctx is done.
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
