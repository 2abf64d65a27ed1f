package thread

import "slices"

// TerminalOutputLimit is the number of bytes of a terminal's output that a Thread keeps.
const TerminalOutputLimit = 1 << 20

// terminalNode is a terminal while it runs. Snapshots share the bytes of output, of which
// none is written twice.
type terminalNode struct {
	terminal Terminal
	output   []byte
}

func (n *terminalNode) freeze(s *Snapshot, i int) {
	terminal := n.terminal
	terminal.Output = slices.Clip(n.output)
	if over := len(n.output) - TerminalOutputLimit; over > 0 {
		terminal.Output, terminal.Truncated = terminal.Output[over:], true
	}
	if i < s.Terminals.Len() {
		s.Terminals = s.Terminals.set(i, &terminal)
		return
	}
	s.Terminals = s.Terminals.append(&terminal)
}

// write adds output. When twice the limit has come together, the older half goes.
func (n *terminalNode) write(p []byte) {
	if len(p) > TerminalOutputLimit {
		p, n.output, n.terminal.Truncated = p[len(p)-TerminalOutputLimit:], nil, true
	}
	if len(n.output)+len(p) > 2*TerminalOutputLimit {
		keep := n.output[len(n.output)-TerminalOutputLimit:]
		n.output = append(make([]byte, 0, 2*TerminalOutputLimit), keep...)
		n.terminal.Truncated = true
	}
	n.output = append(n.output, p...)
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
	set(&n.terminal.Command, c.Command)
	set(&n.terminal.Cwd, c.Cwd)
	if c.Output != nil {
		n.output, n.terminal.Truncated = nil, false
		n.write(*c.Output)
	}
	n.write(c.Append)
	set(&n.terminal.Truncated, c.Truncated)
	set(&n.terminal.Exit, c.Exit)
	set(&n.terminal.Columns, c.Columns)
	set(&n.terminal.Rows, c.Rows)
	set(&n.terminal.Cancellable, c.Cancellable)
	n.terminal.Meta = merge(n.terminal.Meta, c.Meta)
	t.touch(e)
}
