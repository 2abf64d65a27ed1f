package main

import (
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
)

// outputShown is the number of lines that are shown of what a tool call reports.
const outputShown = 20

// terminal prints the new output of a command, and how it has ended.
func (v *view) terminal(t *thread.Terminal) {
	end := t.Offset + int64(len(t.Output))
	p := v.terminals[t.ID]
	if p.bytes < end {
		v.screen.output(t.ID, t.Output[max(0, p.bytes-t.Offset):])
		p.bytes = end
	}
	if t.Exit != nil && !p.ended {
		p.ended = true
		v.screen.endOutput(t.ID)
		switch {
		case t.Exit.Signal != "":
			v.screen.line(dim, "  (ended by %s)", t.Exit.Signal)
		case t.Exit.Code != nil && *t.Exit.Code != 0:
			v.screen.line(dim, "  (exit status %d)", *t.Exit.Code)
		}
	}
	v.terminals[t.ID] = p
}

// ended prints the rest of the output of the terminals of a tool call that is over, and returns its text with at most
// outputShown lines; none if that is the output once more.
func (v *view) ended(s *thread.Snapshot, c *thread.ToolCall, p *seen) []string {
	text := strings.Trim(unfenced(c.Text()), "\r\n")
	again := text == "" || text == p.output
	for _, content := range c.Content.All() {
		if content.Type != thread.ToolContentTerminal {
			continue
		}
		if t := s.Terminal(content.TerminalID); t != nil {
			v.terminal(t)
			v.screen.endOutput(t.ID)
			again = again || strings.Contains("\n"+strings.ReplaceAll(string(t.Output), "\r\n", "\n")+"\n", "\n"+text+"\n")
		}
	}
	if again {
		return nil
	}
	p.output = text
	lines := strings.SplitN(text, "\n", outputShown+1)
	if len(lines) > outputShown {
		n := 1 + strings.Count(lines[outputShown], "\n")
		lines[outputShown] = fmt.Sprintf("... %d lines more", n)
		if n == 1 {
			lines[outputShown] = "... 1 line more"
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return lines
}

// unfenced returns a text without the fence of Markdown that some agents put around it.
func unfenced(text string) string {
	first, rest, found := strings.Cut(text, "\n")
	body, closed := strings.CutSuffix(strings.TrimRight(rest, "\n"), "```")
	if !found || !closed || !strings.HasPrefix(first, "```") || strings.Contains(first[3:], "`") {
		return text
	}
	return body
}
