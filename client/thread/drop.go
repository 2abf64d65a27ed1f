package thread

import (
	"maps"
	"slices"
)

// Drop removes the contents of the items before index n, so that a session may last for
// days: a Thread keeps all that it receives until then. The items stay in the list, each as
// [*Dropped], so no index changes. An update of a dropped message or tool call that comes
// later makes a new item. A terminal that is older than item n goes with them, and is an empty
// [Terminal] from then on, if its command has ended and no other item shows it.
//
// The cost is proportional to the number of items that are dropped and that are kept. Readers
// of [Thread.Watch] get [PartAll]. Snapshots that were taken before keep the contents.
func (t *Thread) Drop(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = min(n, len(t.items))
	if n <= t.dropped {
		return
	}
	t.snapshot() // writes the dirty entries
	for i := t.dropped; i < n; i++ {
		t.items[i].unlink()
		t.items[i] = nil
		t.now.Items = t.now.Items.set(i, &Dropped{})
		delete(t.open, i)
	}
	t.dropped = n
	gone := func(e *entry) bool { return e.index < n }
	maps.DeleteFunc(t.messages, func(_ messageKey, e *entry) bool { return gone(e) })
	maps.DeleteFunc(t.others, func(_ string, e *entry) bool { return gone(e) })
	t.echoes = slices.DeleteFunc(t.echoes, func(x *echo) bool { return gone(x.entry) })
	if t.last != nil && gone(t.last) {
		t.last = nil
	}
	index, shown := newIndex(), map[string]bool{} // older snapshots go on using the old index
	for i := n; i < len(t.items); i++ {
		if tool, ok := t.items[i].node.(*toolNode); ok {
			index.note(index.tools, tool.call.ID, i)
			for _, c := range tool.call.Content.All() {
				shown[c.TerminalID] = true
			}
		}
	}
	t.dropTerminals(index, shown)
	t.now.index = index
	t.announceReset()
}

// dropTerminals drops the terminals that belonged to dropped items, and adds the others to index.
func (t *Thread) dropTerminals(index *index, shown map[string]bool) {
	for i, e := range t.terminals {
		if e == nil {
			continue
		}
		terminal := &e.node.(*terminalNode).terminal
		older := t.dropped == len(t.items) || e.created < t.items[t.dropped].created
		if terminal.Exit == nil || shown[terminal.ID] || !older {
			index.note(index.terminals, terminal.ID, i)
			continue
		}
		e.unlink()
		t.terminals[i] = nil
		t.now.Terminals = t.now.Terminals.set(i, &Terminal{})
	}
}

// unlink takes the entry out of the ring.
func (e *entry) unlink() { e.newer.older, e.older.newer = e.older, e.newer }
