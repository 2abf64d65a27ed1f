// Package thread maintains the state that a user interface displays for a session. Experimental: it may change in
// any release. A [Thread] turns the updates of a session into items, such as messages, thoughts and tool calls,
// and into properties of the session as a whole, such as its plan, its modes and its title.
//
// A [Set] has the threads of a connection, and gets all that happens in its sessions:
//
//	for snapshot, changes := range threads.Thread(session.ID()).Watch(ctx) {
//		draw(snapshot, changes)
//	}
//
// A [Snapshot] is immutable. The cost of taking one is proportional to the changes since
// the previous one, not to the length of the session, so an interface may take one for each
// frame that it draws.
//
// A thread keeps all that it receives, so its size grows with the session. Only the output of
// each terminal and the numbers of plans and of pending permission requests are bounded. A
// program whose sessions last for long calls [Thread.Drop] for the items that it no longer shows.
//
// # What updates do not contain
//
// In version 1 of the protocol, updates contain neither the user's prompts nor the end of a
// turn. A program without a Set calls [Thread.Apply] in SessionUpdate of its client, which gets
// each update, [Thread.Prompt] before it sends a prompt, [Thread.EndTurn] after the response,
// [Thread.Permission] when the agent asks for permission, [Thread.Opened] after the response that
// opens the session, and [Thread.Reset] before it loads a session.
// If the client runs the commands of the agent with package client/host or client/terminals, a
// Set shows them too, in Snapshot.Terminals; see [Terminal.Stop]. Agents that run commands by themselves report
// the output in the content of the tool call, or in its _meta, as terminal_output and terminal_exit: then it is in
// Snapshot.Terminals and in the content of the call. [ToolCall.Text] has the text of either form but that.
//
// # Questions
//
// Snapshot.Permissions lists what waits for a person, with a key. If the client decides with package
// client/permission or client/host, the list also has the writes and commands that the agent did not ask about,
// and of each question what the person must see and the options with labels. A button of a page calls
// [Thread.Answer]:
//
//	for _, p := range snapshot.Permissions {
//		show(p.Lines)
//		for _, o := range p.Options {
//			button(o.Label, o.Name, func() { t.Answer(p.Key, o.ID) })
//		}
//	}
//
// Set Ask of client/permission or client/host to permission.InThread if nothing else asks.
//
// # Rules
//
//   - A chunk with a message id belongs to the message with that id. A chunk without one
//     continues the newest item if that is a message of the same role, and starts a message
//     otherwise. The end of a turn separates chunks; notices and updates of unknown kinds
//     do not.
//   - Adjacent text is joined, so the items do not depend on the size of the chunks.
//   - The first message that names a tool call creates it: the announcement of the call, an
//     update of it, or a permission request. Absent fields keep their value. A list
//     replaces the previous list; an empty list clears it.
//   - Tool calls that are open when the turn ends are marked as ended. Later updates are
//     still applied; they do not start a turn.
//   - A prompt and its echo from the agent are one message.
//   - Updates, content and tool output of unknown kinds are kept.
//
// # Versions of the protocol
//
// The items, and the [Event] values that create them, are independent of the version of the
// protocol. [Thread.Apply], [Thread.Prompt], [Thread.EndTurn], [Thread.Permission],
// [Thread.Opened] and [Set] are for version 1. Package
// [github.com/acpkit/go-sdk/draft2/thread] is for version 2. It uses [Thread.Do],
// [Thread.AddChunk], [Thread.Ask], [Thread.Context] and [Thread.Enqueue], which serve every version.
package thread

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/fold"
)

// Thread maintains the items and the state of one session. All methods are safe for
// concurrent use. Updates must be applied in the order in which they arrived.
type Thread struct {
	mu sync.Mutex // guards all below

	// now is the snapshot under construction: all of it is up to date but the items and
	// terminals in dirty. taken is the newest snapshot; nil if something changed since.
	now   Snapshot
	taken *Snapshot
	dirty []*entry

	active time.Time // of the latest event

	items     []*entry // nil for dropped items
	terminals []*entry // nil for dropped terminals
	dropped   int      // the number of dropped items
	messages  fold.Messages[*entry]
	others    map[string]*entry // compactions and subagents, by kind and id
	open      map[int]*toolNode // tool calls that are open, by index
	cursors   map[string]int    // the indices of cursors
	echoes    []*echo
	turns     uint64 // how many have begun
	asked     uint64 // the newest key of a question
	listed    uint64 // the newest key of a question that the snapshot lists or has listed
	unlisted  map[uint64]Permission
	answers   map[uint64]chan string // of the questions that wait for Answer
	queued    uint64                 // the newest key of a prompt that waits
	parts     [partEnd]*entry

	// The entries form a ring, the one changed last first; revision counts the changes.
	ring     entry
	revision uint64
	reset    uint64        // the revision of the newest Reset or Drop
	wake     chan struct{} // closed at the next change; nil if no reader waits
}

// entry is an item, a terminal or another part of the snapshot that changes.
type entry struct {
	part         Part
	index        int
	node         node // of items and terminals
	created      uint64
	changed      uint64
	dirty        bool
	newer, older *entry
}

// node is an item or a terminal while it grows. freeze writes its state into a snapshot.
type node interface {
	freeze(s *Snapshot, index int)
}

// New returns an empty Thread.
func New() *Thread {
	t := &Thread{}
	t.clear()
	return t
}

// clear makes the thread empty.
func (t *Thread) clear() {
	t.now = Snapshot{index: newIndex()}
	t.taken, t.dirty = nil, nil
	t.items, t.terminals, t.dropped = nil, nil, 0
	t.messages = fold.Messages[*entry]{}
	t.others = map[string]*entry{}
	t.open, t.cursors = map[int]*toolNode{}, map[string]int{}
	t.echoes = nil
	t.dropPermissions()
	t.parts = [partEnd]*entry{}
	t.ring = entry{}
	t.ring.newer, t.ring.older = &t.ring, &t.ring
}

// Do applies the events in order. A snapshot contains all of them or none.
func (t *Thread) Do(events ...Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = time.Now()
	for _, e := range events {
		e.apply(t)
	}
}

// LastActivity returns when this end has last seen something of the session: a message of the agent,
// or a prompt, an answer or a setting of the user. It is zero before the first one. Snapshot.UpdatedAt,
// in contrast, is what the agent says.
func (t *Thread) LastActivity() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.active
}

// AddChunk is like [Thread.Do] with a [MessageChunk], the most frequent event, but does not
// allocate an Event.
func (t *Thread) AddChunk(c MessageChunk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = time.Now()
	c.apply(t)
}

// Reset removes the whole content of the thread. Call it before a session is loaded,
// because the agent replays the history.
func (t *Thread) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.announceReset()
}

func (t *Thread) announceReset() {
	t.revision++
	t.reset = t.revision
	t.now.Revision = t.revision
	t.taken = nil
	t.wakeReaders()
}

// Snapshot returns the current state of the thread.
func (t *Thread) Snapshot() *Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.snapshot()
}

func (t *Thread) snapshot() *Snapshot {
	if t.taken == nil {
		for i, e := range t.dirty {
			e.node.freeze(&t.now, e.index)
			e.dirty = false
			t.dirty[i] = nil
		}
		t.dirty = t.dirty[:0]
		t.now.Revision = t.revision
		s := t.now
		s.continued, s.echoes = t.messages.Open(), t.waitingEchoes()
		t.taken = &s
	}
	return t.taken
}

// touch records that e has changed.
func (t *Thread) touch(e *entry) {
	t.revision++
	e.changed = t.revision
	e.created = cmp.Or(e.created, t.revision)
	if t.ring.older != e {
		if e.newer != nil {
			e.unlink()
		}
		e.newer, e.older = &t.ring, t.ring.older
		e.older.newer, t.ring.older = e, e
	}
	if e.node != nil && !e.dirty {
		e.dirty = true
		t.dirty = append(t.dirty, e)
	}
	t.taken = nil
	t.wakeReaders()
}

// changed records a change of a part other than an item or a terminal.
func (t *Thread) changed(p Part) {
	if t.parts[p] == nil {
		t.parts[p] = &entry{part: p}
	}
	t.touch(t.parts[p])
}

// add appends an item. conversation reports whether it separates chunks without an id.
func (t *Thread) add(n node, conversation bool) *entry {
	e := &entry{part: PartItem, index: len(t.items), node: n}
	t.items = append(t.items, e)
	if conversation {
		t.messages.Close()
	}
	t.touch(e)
	return e
}

// Drop removes the contents of the items before index n. A Thread keeps everything that it receives
// until then, so a program whose sessions last for days must call it. The items stay in the list,
// each as [*Dropped], so no index changes. A later update of a dropped message or tool call makes a
// new item. A terminal that is older than item n becomes an empty [Terminal], if its command has
// ended and no other item shows it.
//
// The cost is proportional to the number of items that are dropped and that are kept. Readers of
// [Thread.Watch] get [PartAll]. Snapshots that were taken before keep the contents.
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
	t.messages.Forget(gone)
	maps.DeleteFunc(t.others, func(_ string, e *entry) bool { return gone(e) })
	t.echoes = slices.DeleteFunc(t.echoes, func(x *echo) bool { return gone(x.entry) })
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
