package thread

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Snapshot is the state of a thread at one moment. It must not be modified. It can be
// encoded as JSON and decoded; see [Thread.Restore].
type Snapshot struct {
	// Revision counts the changes of the thread.
	Revision uint64 `json:"revision"`
	// Items is the conversation. The index of an item never changes. The contents of old items
	// may have been dropped; see [Thread.Drop].
	Items List[Item] `json:"items"`
	// Terminals are the terminals whose output is known. The index of a terminal never changes.
	Terminals List[*Terminal] `json:"terminals,omitzero"`
	// Queued are the prompts that wait to become part of the conversation.
	Queued []Queued `json:"queued,omitempty"`
	// Plans are the plans of the agent, at most the 100 newest.
	Plans []Plan `json:"plans,omitempty"`
	// Suggestions are prompts that the agent suggests, the most likely first.
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	// Cursors are the positions that the agent has named, in the order in which it did. The index of a
	// cursor never changes.
	Cursors List[Cursor] `json:"cursors,omitzero"`
	// Permissions are the pending permission requests and questions; see [Thread.Answer]. If there are more than
	// 100, these are the oldest ones.
	Permissions []Permission `json:"permissions,omitempty"`
	Usage       *Usage       `json:"usage,omitempty"`
	// Modes is nil if the session has none.
	Modes    *Modes    `json:"modes,omitempty"`
	Options  []Option  `json:"options,omitempty"`
	Commands []Command `json:"commands,omitempty"`
	Title    string    `json:"title,omitempty"`
	// UpdatedAt is the time of the last activity, as RFC 3339 text.
	UpdatedAt string `json:"updatedAt,omitempty"`
	Turn      Turn   `json:"turn,omitzero"`
	// Meta is the Meta of the session itself.
	Meta Meta `json:"meta,omitempty"`

	index *index
	// continued reports whether a chunk without an id continues the newest message. echoes are the
	// prompts that wait for their echo, without their entries.
	continued bool
	echoes    []echo
}

// index finds tool calls and terminals by their ids. All snapshots of a thread share it,
// up to a Reset or Drop: an item keeps its index.
type index struct {
	mu               sync.RWMutex // guards both
	tools, terminals map[string][]int
}

func newIndex() *index {
	return &index{tools: map[string][]int{}, terminals: map[string][]int{}}
}

// find returns the newest index of an id that is less than n.
func (x *index) find(in map[string][]int, id string, n int) (int, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := in[id]
	i, _ := slices.BinarySearch(all, n)
	if i == 0 {
		return 0, false
	}
	return all[i-1], true
}

// note adds an index. It must be greater than the previous ones of the id.
func (x *index) note(in map[string][]int, id string, i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in[id] = append(in[id], i)
}

// ToolCall returns the tool call with the id, or nil if there is none. If there are several,
// it returns the newest.
func (s *Snapshot) ToolCall(id string) *ToolCall {
	if s.index == nil {
		return nil
	}
	if i, ok := s.index.find(s.index.tools, id, s.Items.Len()); ok {
		return s.Items.At(i).(*ToolCall)
	}
	return nil
}

// Terminal returns the terminal with the id, or nil if there is none.
func (s *Snapshot) Terminal(id string) *Terminal {
	if s.index == nil {
		return nil
	}
	if i, ok := s.index.find(s.index.terminals, id, s.Terminals.Len()); ok {
		return s.Terminals.At(i)
	}
	return nil
}

type plainSnapshot Snapshot

// MarshalJSON encodes the snapshot. Each item has a member "item" with its kind: "message", "tool_call", "notice",
// "compaction", "subagent", "unknown" or "dropped".
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	items := make([]jsonItem, 0, s.Items.Len())
	for _, item := range s.Items.All() {
		items = append(items, jsonItem{item})
	}
	return json.Marshal(struct {
		Items []jsonItem `json:"items"`
		*plainSnapshot
	}{items, (*plainSnapshot)(s)})
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	var read struct {
		Items []jsonItem `json:"items"`
		*plainSnapshot
	}
	read.plainSnapshot = &plainSnapshot{}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*s = Snapshot(*read.plainSnapshot)
	s.Items = List[Item]{}
	s.index = newIndex()
	for i, item := range read.Items {
		s.Items = s.Items.append(item.Item)
		if call, ok := item.Item.(*ToolCall); ok {
			s.index.note(s.index.tools, call.ID, i)
		}
	}
	for i, terminal := range s.Terminals.All() {
		if terminal == nil {
			return fmt.Errorf("thread: terminal %d of the snapshot is null", i)
		}
		s.index.note(s.index.terminals, terminal.ID, i)
	}
	return nil
}

// jsonItem writes an item together with its kind, and reads it back: {"item":"message",
// "role":"agent", ...}. (A tool call has a "kind" of its own.)
type jsonItem struct{ Item }

func (j jsonItem) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(j.Item)
	if err != nil || len(body) < 2 {
		return nil, err
	}
	head := fmt.Appendf(nil, `{"item":%q`, j.Item.itemKind())
	if len(body) > 2 {
		head = append(head, ',')
	}
	return append(head, body[1:]...), nil
}

func (j *jsonItem) UnmarshalJSON(data []byte) error {
	var head struct {
		Item string `json:"item"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	for _, item := range []Item{&Message{}, &ToolCall{}, &Notice{}, &Compaction{}, &Subagent{}, &Unknown{}, &Dropped{}} {
		if item.itemKind() == head.Item {
			j.Item = item
			return json.Unmarshal(data, item)
		}
	}
	return fmt.Errorf("thread: the snapshot has an item of the unknown kind %q: it was written by a newer version", head.Item)
}

// Restore replaces the content of the thread with that of s. Use it when a session could
// not be loaded after [Thread.Reset], or for a snapshot that was decoded from JSON. The
// session is then idle: tool calls that are open in s are marked as ended, and pending
// permission requests are dropped.
func (t *Thread) Restore(s *Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace(s)
	if t.now.Turn.State != "" {
		t.now.Turn.State = StateIdle
	}
	t.endCalls(nil)
	t.messages.Close()
	t.announceReset()
}

// Continue replaces the content of the thread with that of s, and continues as the thread from
// which s was taken: unlike after [Thread.Restore], a turn in progress and its open tool calls stay
// open. So do pending permission requests and queued prompts: end them with [Thread.Answered] and
// [Thread.Dequeue]. Call it on a new Thread.
func (t *Thread) Continue(s *Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace(s)
	if !s.continued {
		t.messages.Close()
	}
	for _, p := range s.Permissions { // new ones get higher keys
		t.asked = p.Key
	}
	for _, q := range s.Queued {
		t.queued = q.Key
	}
	t.now.Permissions, t.now.Queued, t.listed = s.Permissions, s.Queued, t.asked
	for _, x := range s.echoes {
		x.entry = t.items[x.item]
		t.echoes = append(t.echoes, &x)
	}
	t.announceReset()
}

// replace fills the thread with the content of s.
func (t *Thread) replace(s *Snapshot) {
	t.clear()
	for _, terminal := range s.Terminals.All() {
		n := &terminalNode{terminal: *terminal}
		n.terminal.Output, n.terminal.Truncated = nil, false
		n.write(terminal.Output)
		n.written += terminal.Offset
		n.terminal.Truncated = n.terminal.Truncated || terminal.Truncated
		e := &entry{part: PartTerminal, index: len(t.terminals), node: n}
		t.terminals = append(t.terminals, e)
		t.now.index.note(t.now.index.terminals, terminal.ID, e.index)
		t.touch(e)
	}
	for _, item := range s.Items.All() {
		t.restore(item)
	}
	t.now.Plans, t.now.Usage, t.now.Modes = s.Plans, s.Usage, s.Modes
	t.now.Options, t.now.Commands, t.now.Suggestions = s.Options, s.Commands, s.Suggestions
	t.now.Cursors = s.Cursors
	for i, c := range s.Cursors.All() {
		t.cursors[c.ID] = i
	}
	t.now.Title, t.now.UpdatedAt, t.now.Meta = s.Title, s.UpdatedAt, s.Meta
	t.now.Turn = s.Turn
}

// restore adds an item so that it can be changed later.
func (t *Thread) restore(item Item) {
	switch item := item.(type) {
	case *Message:
		n := t.newMessage(item.Role, item.ID).node.(*messageNode)
		n.from, n.to, n.meta = item.From, item.To, item.Meta
		n.content.set(item.Content.Slice())
	case *ToolCall:
		n := &toolNode{call: *item}
		e := t.add(n, true)
		t.now.index.note(t.now.index.tools, item.ID, e.index)
		if item.Open() {
			t.open[e.index] = n
		}
	case *Compaction:
		n := &compactionNode{compaction: *item}
		n.summary.set(item.Summary.Slice())
		t.others["compaction/"+item.ID] = t.add(n, true)
	case *Subagent:
		t.others["subagent/"+item.SessionID] = t.add(&subagentNode{*item}, true)
	default:
		t.add(fixedNode{item}, false)
	}
}
