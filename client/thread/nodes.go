package thread

import (
	"slices"

	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/termview"
)

// fixedNode is an item that does not change.
type fixedNode struct{ item Item }

func (n fixedNode) freeze(s *Snapshot, i int) { s.Items = s.Items.put(i, n.item) }

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
	s.Items = s.Items.put(i, &c)
}

func (c CompactionChanged) apply(t *Thread) {
	e := t.others["compaction/"+c.ID]
	if e == nil {
		e = t.add(&compactionNode{compaction: Compaction{ID: c.ID, Status: "in_progress"}}, true)
		t.others["compaction/"+c.ID] = e
	}
	n := e.node.(*compactionNode)
	fold.Set(&n.compaction.Status, c.Status)
	if c.Summary != nil {
		n.summary.set(*c.Summary)
	}
	for _, b := range c.Append {
		n.summary.add(b)
	}
	fold.Set(&n.compaction.Error, c.Error)
	n.compaction.Meta = fold.Meta(n.compaction.Meta, c.Meta)
	t.touch(e)
}

// subagentNode is a subagent while it works.
type subagentNode struct{ subagent Subagent }

func (n *subagentNode) freeze(s *Snapshot, i int) {
	subagent := n.subagent
	s.Items = s.Items.put(i, &subagent)
}

func (c SubagentChanged) apply(t *Thread) {
	e := t.others["subagent/"+c.SessionID]
	if e == nil {
		e = t.add(&subagentNode{Subagent{SessionID: c.SessionID}}, true)
		t.others["subagent/"+c.SessionID] = e
	}
	n := e.node.(*subagentNode)
	fold.Set(&n.subagent.Title, c.Title)
	fold.Set(&n.subagent.Description, c.Description)
	fold.Set(&n.subagent.State, c.State)
	fold.Set(&n.subagent.StopReason, c.StopReason)
	fold.Set(&n.subagent.Error, c.Error)
	fold.Set(&n.subagent.Usage, c.Usage)
	fold.Set(&n.subagent.Background, c.Background)
	fold.Set(&n.subagent.Cwd, c.Cwd)
	fold.Set(&n.subagent.AdditionalDirectories, c.AdditionalDirectories)
	fold.Set(&n.subagent.Cancellable, c.Cancellable)
	n.subagent.Meta = fold.Meta(n.subagent.Meta, c.Meta)
	t.touch(e)
}

// toolNode is a tool call while it changes.
type toolNode struct {
	call ToolCall
	turn uint64 // in which it began; 0 if that is not known
	// shown are the terminals in the content; nil if that is to be looked up.
	shown map[string]bool
}

func (n *toolNode) freeze(s *Snapshot, i int) {
	call := n.call
	s.Items = s.Items.put(i, &call)
}

func (c ToolCallChanged) apply(t *Thread) {
	var e *entry
	if i, ok := t.now.index.find(t.now.index.tools, c.ID, len(t.items)); ok && !(c.Begins && t.isEarlier(i)) {
		e = t.items[i]
	} else {
		e = t.add(&toolNode{call: ToolCall{ID: c.ID, Kind: "other", Status: ToolPending}, turn: t.turns}, true)
		t.now.index.note(t.now.index.tools, c.ID, e.index)
	}
	n := e.node.(*toolNode)
	call := &n.call
	fold.Call{
		Title: &call.Title, Name: &call.Name, Kind: &call.Kind, Status: &call.Status, Ended: &call.Ended,
		RawInput: &call.RawInput, RawOutput: &call.RawOutput, Cancellable: &call.Cancellable, Meta: (*map[string]any)(&call.Meta),
	}.Apply(fold.Call{
		Title: c.Title, Name: c.Name, Kind: c.Kind, Status: c.Status,
		RawInput: c.RawInput, RawOutput: c.RawOutput, Cancellable: c.Cancellable, Meta: (*map[string]any)(&c.Meta),
	})
	if c.Content != nil {
		call.Content = listOf(*c.Content)
	}
	for _, content := range c.Append {
		call.Content = call.Content.append(content)
	}
	if c.Content != nil || c.Append != nil {
		n.shown = nil
	}
	fold.Set(&call.Locations, c.Locations)
	t.reported(n, c.Meta)
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

// outputAtMost is the number of bytes of a terminal's output that a Thread keeps.
const outputAtMost = 1 << 20

// terminalNode is a terminal while it runs. Snapshots share the bytes of output, so none is
// overwritten.
type terminalNode struct {
	terminal Terminal
	output   []byte
	written  int64 // bytes, with those that were dropped
	own      bool  // this program runs the command
}

func (n *terminalNode) freeze(s *Snapshot, i int) {
	terminal := n.terminal
	terminal.Output = slices.Clip(n.output)
	if over := len(n.output) - outputAtMost; over > 0 {
		terminal.Output, terminal.Truncated = terminal.Output[over:], true
	}
	terminal.Offset = n.written - int64(len(terminal.Output))
	s.Terminals = s.Terminals.put(i, &terminal)
}

// write adds output. If there is more than twice the limit, it drops the older half.
func (n *terminalNode) write(p []byte) {
	n.written += int64(len(p))
	if len(p) > outputAtMost {
		p, n.output, n.terminal.Truncated = p[len(p)-outputAtMost:], nil, true
	}
	if len(n.output)+len(p) > 2*outputAtMost {
		keep := n.output[len(n.output)-outputAtMost:]
		n.output = append(make([]byte, 0, 2*outputAtMost), keep...)
		n.terminal.Truncated = true
	}
	n.output = append(n.output, p...)
}

// Stop asks the command to end if this program runs it: in version 1, with package client/terminals
// or client/host. If the command does not end, it is killed. Stop does not wait, and reports whether
// the program runs the command.
func (t *Terminal) Stop() bool {
	if t.stop == nil {
		return false
	}
	t.stop()
	return true
}

// follow shows a command that this program runs.
func (t *Thread) follow(u termview.Update) {
	c := TerminalChanged{ID: string(u.ID), Command: &u.Command, Cwd: &u.Cwd, Append: u.Output, Cancellable: new(true), stop: u.Stop}
	if u.Exit != nil {
		exit := &Exit{Signal: u.Exit.Signal}
		if u.Exit.ExitCode != nil {
			exit.Code = new(int64(*u.Exit.ExitCode))
		}
		c.Exit, c.stop = &exit, nil
	}
	t.Do(c)
}

func (c TerminalChanged) apply(t *Thread) {
	var e *entry
	if i, ok := t.now.index.find(t.now.index.terminals, c.ID, len(t.terminals)); ok {
		e = t.terminals[i]
	} else {
		e = &entry{part: PartTerminal, index: len(t.terminals), node: &terminalNode{terminal: Terminal{ID: c.ID}}}
		t.terminals = append(t.terminals, e)
		t.now.index.note(t.now.index.terminals, c.ID, e.index)
	}
	n := e.node.(*terminalNode)
	fold.Set(&n.terminal.Command, c.Command)
	fold.Set(&n.terminal.Cwd, c.Cwd)
	if c.Output != nil {
		n.output, n.written, n.terminal.Truncated = nil, 0, false
		n.write(*c.Output)
	}
	n.write(c.Append)
	fold.Set(&n.terminal.Truncated, c.Truncated)
	fold.Set(&n.terminal.Exit, c.Exit)
	fold.Set(&n.terminal.Columns, c.Columns)
	fold.Set(&n.terminal.Rows, c.Rows)
	fold.Set(&n.terminal.Cancellable, c.Cancellable)
	n.terminal.Meta = fold.Meta(n.terminal.Meta, c.Meta)
	n.own = n.own || c.stop != nil
	if c.stop != nil || c.Exit != nil {
		n.terminal.stop = c.stop
	}
	t.touch(e)
}
