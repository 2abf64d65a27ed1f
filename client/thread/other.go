package thread

import "slices"

// fixedNode is an item that does not change.
type fixedNode struct{ item Item }

func (n fixedNode) freeze(s *Snapshot, i int) { put(s, i, n.item) }

func (c Noticed) apply(t *Thread) {
	notice := c.Notice
	t.add(fixedNode{&notice}, false)
}

func (c Unrecognized) apply(t *Thread) {
	t.add(fixedNode{&Unknown{Type: c.Type, Raw: slices.Clone(c.Raw)}}, false)
}

// compactionNode is a compaction while it runs.
type compactionNode struct {
	compaction Compaction
	summary    blocks
}

func (n *compactionNode) freeze(s *Snapshot, i int) {
	c := n.compaction
	c.Summary = n.summary.list()
	put(s, i, &c)
}

func (c CompactionChanged) apply(t *Thread) {
	e := t.others["compaction/"+c.ID]
	if e == nil {
		e = t.add(&compactionNode{compaction: Compaction{ID: c.ID, Status: "in_progress"}}, true)
		t.others["compaction/"+c.ID] = e
	}
	n := e.node.(*compactionNode)
	set(&n.compaction.Status, c.Status)
	if c.Summary != nil {
		n.summary.set(*c.Summary)
	}
	for _, b := range c.Append {
		n.summary.add(b)
	}
	set(&n.compaction.Error, c.Error)
	n.compaction.Meta = merge(n.compaction.Meta, c.Meta)
	t.touch(e)
}

// subagentNode is a subagent while it works.
type subagentNode struct{ subagent Subagent }

func (n *subagentNode) freeze(s *Snapshot, i int) {
	subagent := n.subagent
	put(s, i, &subagent)
}

func (c SubagentChanged) apply(t *Thread) {
	e := t.others["subagent/"+c.SessionID]
	if e == nil {
		e = t.add(&subagentNode{Subagent{SessionID: c.SessionID}}, true)
		t.others["subagent/"+c.SessionID] = e
	}
	n := e.node.(*subagentNode)
	set(&n.subagent.Title, c.Title)
	set(&n.subagent.Description, c.Description)
	set(&n.subagent.State, c.State)
	set(&n.subagent.StopReason, c.StopReason)
	set(&n.subagent.Error, c.Error)
	set(&n.subagent.Usage, c.Usage)
	set(&n.subagent.Background, c.Background)
	set(&n.subagent.Cwd, c.Cwd)
	set(&n.subagent.AdditionalDirectories, c.AdditionalDirectories)
	set(&n.subagent.Cancellable, c.Cancellable)
	n.subagent.Meta = merge(n.subagent.Meta, c.Meta)
	t.touch(e)
}
