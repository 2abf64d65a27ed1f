package thread

import (
	"encoding/json"
	"strings"
)

// reported applies what agents that run commands by themselves tell of them in the Meta of a tool call of version
// 1: terminal_info names a terminal, terminal_output and terminal_output_delta have the next piece of its output, and
// terminal_exit how its command ended. Without terminal_id, the terminal has the id of the call. A terminal that
// this program runs is not changed.
func (t *Thread) reported(n *toolNode, meta Meta) {
	for _, name := range []string{"terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"} {
		of, ok := meta[name].(map[string]any)
		if !ok {
			continue
		}
		c := TerminalChanged{ID: n.call.ID}
		if id, _ := of["terminal_id"].(string); id != "" {
			c.ID = id
		}
		if t.runs(c.ID) {
			continue
		}
		switch name {
		case "terminal_info":
			if cwd, ok := of["cwd"].(string); ok {
				c.Cwd = &cwd
			}
		case "terminal_exit":
			exit := &Exit{Code: whole(of["exit_code"])}
			exit.Signal, _ = of["signal"].(string)
			c.Exit = &exit
		default:
			data, _ := of["data"].(string)
			c.Append = []byte(data)
		}
		c.apply(t)
		if !n.shows(c.ID) {
			n.shown[c.ID] = true
			n.call.Content = n.call.Content.append(ToolContent{Type: ToolContentTerminal, TerminalID: c.ID})
		}
	}
}

// runs reports whether this program runs the command of a terminal, or has run it.
func (t *Thread) runs(id string) bool {
	i, ok := t.now.index.find(t.now.index.terminals, id, len(t.terminals))
	return ok && t.terminals[i].node.(*terminalNode).own
}

// shows reports whether the content of the call has the terminal.
func (n *toolNode) shows(terminalID string) bool {
	if n.shown == nil {
		n.shown = map[string]bool{}
		for _, content := range n.call.Content.All() {
			n.shown[content.TerminalID] = content.Type == ToolContentTerminal
		}
	}
	return n.shown[terminalID]
}

// whole returns a number of JSON as an integer; nil if it is none.
func whole(number any) *int64 {
	switch n := number.(type) {
	case float64:
		return new(int64(n))
	case json.Number:
		if i, err := n.Int64(); err == nil {
			return &i
		}
	}
	return nil
}

// The members of a RawOutput that have a text, by the agents in use: the output of a command, which some agents
// put nowhere else, and what other tools report.
var (
	commandOutput = []string{"formatted_output", "aggregated_output", "stdout", "stderr"}
	otherOutput   = []string{"output", "content", "message", "error"}
)

// Text returns the text of the output: the texts of Content, one below the other, and the output of a command in
// RawOutput, unless they have it. If Content has none, because the agent reports a failure or shows nothing, it is
// the text that RawOutput is or has. What terminals show is not in it.
func (c *ToolCall) Text() string {
	var b strings.Builder
	add := func(text string) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	for _, content := range c.Content.All() {
		if content.Block != nil && content.Block.Text != "" {
			add(content.Block.Text)
		}
	}
	if len(c.RawOutput) == 0 {
		return b.String()
	}
	var text string
	members := map[string]json.RawMessage{}
	isText := json.Unmarshal(c.RawOutput, &text) == nil
	if !isText {
		_ = json.Unmarshal(c.RawOutput, &members) // without members there is no text
	}
	if output := firstText(members, commandOutput); output != "" && !hasLines(b.String(), output) {
		add(output)
	}
	switch {
	case b.Len() > 0 || c.Content.Len() > 0 && c.Status != ToolFailed:
		return b.String()
	case isText:
		return text
	}
	return firstText(members, otherOutput)
}

// hasLines reports whether the lines of a text are among those of another.
func hasLines(all, lines string) bool {
	return strings.Contains("\n"+all+"\n", "\n"+strings.Trim(lines, "\n")+"\n")
}

// firstText returns the first of the members that is a text and not empty.
func firstText(members map[string]json.RawMessage, names []string) (text string) {
	for _, name := range names {
		if json.Unmarshal(members[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}
