package thread

import (
	"slices"

	"github.com/acpkit/go-sdk/internal/termview"
)

// TerminalOutputLimit is the number of bytes of a terminal's output that a Thread keeps.
const TerminalOutputLimit = 1 << 20

// terminalNode is a terminal while it runs. Snapshots share the bytes of output, so none is
// overwritten.
type terminalNode struct {
	terminal Terminal
	output   []byte
	written  int64 // bytes, with those that were dropped
}

func (n *terminalNode) freeze(s *Snapshot, i int) {
	terminal := n.terminal
	terminal.Output = slices.Clip(n.output)
	if over := len(n.output) - TerminalOutputLimit; over > 0 {
		terminal.Output, terminal.Truncated = terminal.Output[over:], true
	}
	terminal.Offset = n.written - int64(len(terminal.Output))
	if i < s.Terminals.Len() {
		s.Terminals = s.Terminals.set(i, &terminal)
		return
	}
	s.Terminals = s.Terminals.append(&terminal)
}

// write adds output. If there is more than twice the limit, it drops the older half.
func (n *terminalNode) write(p []byte) {
	n.written += int64(len(p))
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
	set(&n.terminal.Command, c.Command)
	set(&n.terminal.Cwd, c.Cwd)
	if c.Output != nil {
		n.output, n.written, n.terminal.Truncated = nil, 0, false
		n.write(*c.Output)
	}
	n.write(c.Append)
	set(&n.terminal.Truncated, c.Truncated)
	set(&n.terminal.Exit, c.Exit)
	set(&n.terminal.Columns, c.Columns)
	set(&n.terminal.Rows, c.Rows)
	set(&n.terminal.Cancellable, c.Cancellable)
	n.terminal.Meta = merge(n.terminal.Meta, c.Meta)
	if c.stop != nil || c.Exit != nil {
		n.terminal.stop = c.stop
	}
	t.touch(e)
}
