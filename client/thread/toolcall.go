package thread

// toolNode is a tool call while it changes.
type toolNode struct {
	call ToolCall
	turn uint64 // in which it began; 0 if that is not known
}

func (n *toolNode) freeze(s *Snapshot, i int) {
	call := n.call
	put(s, i, &call)
}

func (c ToolCallChanged) apply(t *Thread) {
	var e *entry
	if i, ok := t.now.index.find(t.now.index.tools, c.ID, len(t.items)); ok && !(c.Begins && t.isEarlier(i)) {
		e = t.items[i]
	} else {
		e = t.add(&toolNode{ToolCall{ID: c.ID, Kind: "other", Status: ToolPending}, t.turns}, true)
		t.now.index.note(t.now.index.tools, c.ID, e.index)
	}
	n := e.node.(*toolNode)
	call := &n.call
	set(&call.Title, c.Title)
	set(&call.Name, c.Name)
	set(&call.Kind, c.Kind)
	if c.Status != nil {
		call.Status, call.Ended = *c.Status, false
	}
	if c.Content != nil {
		call.Content = ListOf(*c.Content...)
	}
	for _, content := range c.Append {
		call.Content = call.Content.append(content)
	}
	set(&call.Locations, c.Locations)
	set(&call.RawInput, c.RawInput)
	set(&call.RawOutput, c.RawOutput)
	set(&call.Cancellable, c.Cancellable)
	call.Meta = merge(call.Meta, c.Meta)
	if call.Open() {
		t.open[e.index] = n
	} else {
		delete(t.open, e.index)
	}
	t.touch(e)
}

// isEarlier reports whether the tool call at an index belongs to an earlier turn than the one
// in progress. During a replay no turn is.
func (t *Thread) isEarlier(i int) bool {
	n := t.items[i].node.(*toolNode)
	return t.working() && n.turn < t.turns && !n.call.Open()
}
