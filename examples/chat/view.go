package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// recent is the number of the newest messages that may still grow: an agent may continue a message
// after it has begun another.
const recent = 4

// view prints a thread as it grows. Printed lines do not change, so a tool call gets one line
// when it begins and another when it ends.
type view struct {
	id     acp.SessionID
	thread *thread.Thread
	screen *screen
	dir    string // paths below it are shown without it

	mu        sync.Mutex // guards all below
	held      int        // how many questions are on the screen
	replaying bool       // the agent replays a loaded session
	next      int        // the items before it have been seen
	items     map[int]*seen
	plans     []thread.Plan
	mode      string
	printed   map[string]int64 // bytes of output of each terminal
}

// seen is the part of an item that has been printed.
type seen struct {
	blocks        []string // of a message
	status, title string   // of a tool call
	diffs         int
}

func newView(s *screen, id acp.SessionID, t *thread.Thread, dir string) *view {
	return &view{id: id, thread: t, screen: s, dir: dir, items: map[int]*seen{}, printed: map[string]int64{}}
}

func (v *view) load(on bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.replaying = on
}

// draw prints what has changed since the last call.
func (v *view) draw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drawLocked()
}

// hold draws, and then nothing more until release is called: a text of the agent below a question could
// look like another question.
func (v *view) hold() (release func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drawLocked()
	v.held++
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.held--
		v.drawLocked()
	}
}

func (v *view) drawLocked() {
	if v.held > 0 {
		return
	}
	s := v.thread.Snapshot()
	n := s.Items.Len()
	for ; v.next < n; v.next++ {
		v.items[v.next] = &seen{}
	}
	for _, i := range slices.Sorted(maps.Keys(v.items)) {
		if i >= n || !v.item(s.Items.At(i), v.items[i]) && i < n-recent {
			delete(v.items, i)
		}
	}
	for _, t := range s.Terminals.All() {
		end := t.Offset + int64(len(t.Output))
		if n := v.printed[t.ID]; n < end && !v.replaying {
			v.screen.output(t.ID, t.Output[max(0, n-t.Offset):])
		}
		v.printed[t.ID] = end
	}
	if !slices.EqualFunc(v.plans, s.Plans, samePlan) {
		v.plans = s.Plans
		v.plan(s.Plans)
	}
	if s.Modes != nil {
		if v.mode != "" && v.mode != s.Modes.Current && !v.replaying {
			v.screen.line(dim, "mode: %s", s.Modes.Current)
		}
		v.mode = s.Modes.Current
	}
}

// item prints the new part of an item, and reports whether more may follow.
func (v *view) item(item thread.Item, p *seen) (more bool) {
	switch it := item.(type) {
	case *thread.Message:
		v.message(it, p)
	case *thread.ToolCall:
		return v.toolCall(it, p)
	case *thread.Notice:
		if p.status == "" {
			v.screen.line(yellow, "%s: %s", it.Severity, it.Title)
			if it.Description != "" {
				v.screen.lines(dim, "  "+strings.ReplaceAll(strings.TrimSpace(it.Description), "\n", "\n  "))
			}
		}
	case *thread.Compaction:
		if p.status != it.Status {
			v.screen.line(dim, "compaction of the history: %s", words(it.Status))
		}
		p.status = it.Status
		return it.Status == "in_progress"
	case *thread.Subagent:
		if p.status != it.State {
			v.screen.line(dim, "▸ agent %s: %s", it.Title, words(it.State))
		}
		p.status = it.State
		return it.State != thread.StateIdle
	}
	p.status = "shown"
	return false
}

func (v *view) message(m *thread.Message, p *seen) {
	style, mark := plain, ""
	switch m.Role {
	case thread.RoleUser:
		if !v.replaying {
			return // the user has typed it
		}
		style, mark = bold, "> "
	case thread.RoleThought:
		style, mark = dim, "· "
	}
	for i, was := range p.blocks {
		if i >= m.Content.Len() || !strings.HasPrefix(blockText(m.Content.At(i)), was) {
			p.blocks = nil // it was replaced: all of it is shown
			break
		}
	}
	for i := max(0, len(p.blocks)-1); i < m.Content.Len(); i++ {
		if i == len(p.blocks) {
			p.blocks = append(p.blocks, "")
		}
		b := m.Content.At(i)
		text, was := blockText(b), p.blocks[i]
		switch {
		case text == was:
		case b.Type == thread.BlockText:
			v.screen.stream(style, mark, text[len(was):], i == 0 && was == "")
		default:
			v.screen.line(dim, "%s%s", mark, text)
		}
		p.blocks[i] = text
	}
}

func blockText(b thread.Block) string {
	if b.Type == thread.BlockText {
		return b.Text
	}
	return "[" + strings.TrimSpace(words(b.Type)+" "+b.URI) + "]"
}

func (v *view) toolCall(c *thread.ToolCall, p *seen) (more bool) {
	title := oneLine(cmp.Or(c.Title, c.ID))
	if p.title == "" {
		v.screen.line(cyan, "▸ %s", title)
		p.title = title
	}
	diffs := 0
	for _, content := range c.Content.All() {
		if content.Type != thread.ToolContentDiff || content.Diff == nil {
			continue
		}
		if diffs++; diffs > p.diffs {
			v.diff(content.Diff)
			p.diffs = diffs
		}
	}
	status := c.Status
	if c.Open() || c.Ended {
		if !c.Ended {
			return true
		}
		status = "ended"
	}
	if p.status != status {
		p.status = status
		switch status {
		case thread.ToolCompleted:
			v.screen.line(green, "✓ %s", title)
		case thread.ToolFailed:
			v.screen.line(red, "✗ %s", title)
			v.reason(c)
		default:
			v.screen.line(dim, "◦ %s%s", title, inBrackets(status))
		}
	}
	return status == "ended" // a late update may still have the result
}

// reason prints the first lines of the text of a failed call.
func (v *view) reason(c *thread.ToolCall) {
	for _, content := range c.Content.All() {
		if content.Block == nil || content.Block.Text == "" {
			continue
		}
		all := strings.Split(strings.TrimSpace(content.Block.Text), "\n")
		for _, line := range all[:min(len(all), 5)] {
			v.screen.line(dim, "  %s", line)
		}
		return
	}
}

func (v *view) plan(plans []thread.Plan) {
	for _, p := range plans {
		v.screen.line(plain, "%s", strings.TrimSpace("plan: "+p.Path))
		if p.Markdown != "" {
			v.screen.lines(plain, p.Markdown)
		}
		for _, e := range p.Entries {
			switch e.Status {
			case "completed":
				v.screen.line(green, "  ✓ %s", e.Content)
			case "in_progress":
				v.screen.line(cyan, "  ▸ %s", e.Content)
			default:
				v.screen.line(dim, "  · %s", e.Content)
			}
		}
	}
}

func samePlan(a, b thread.Plan) bool {
	return a.Path == b.Path && a.Markdown == b.Markdown && slices.EqualFunc(a.Entries, b.Entries,
		func(a, b thread.PlanEntry) bool { return a.Content == b.Content && a.Status == b.Status })
}

func inBrackets(value string) string {
	if value == "" {
		return ""
	}
	return " (" + words(value) + ")"
}

func words(value string) string { return strings.ReplaceAll(value, "_", " ") }
