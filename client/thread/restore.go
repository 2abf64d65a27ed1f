package thread

// Restore replaces the content of the thread with that of s. Use it when a session could
// not be loaded after [Thread.Reset], or for a snapshot that was decoded from JSON. The
// session is then idle: tool calls that are open in s are marked as ended, and pending
// permission requests are dropped.
func (t *Thread) Restore(s *Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
	t.now.Options, t.now.Commands = s.Options, s.Commands
	t.now.Title, t.now.UpdatedAt, t.now.Meta = s.Title, s.UpdatedAt, s.Meta
	t.now.Turn = s.Turn
	if t.now.Turn.State != "" {
		t.now.Turn.State = StateIdle
	}
	t.endCalls(nil)
	t.closeMessage()
	t.announceReset()
}

// restore adds an item and what is needed to change it later.
func (t *Thread) restore(item Item) {
	switch item := item.(type) {
	case *Message:
		n := &messageNode{role: item.Role, id: item.ID, from: item.From, to: item.To, meta: item.Meta}
		n.content.set(item.Content.Slice())
		e := t.add(n, true)
		if item.ID != "" {
			t.messages[messageKey{item.Role, item.ID}] = e
		}
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
