package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// view prints a thread as it grows. Printed lines do not change, so a tool call gets one line
// when it begins and another when it ends.
type view struct {
	id     acp.SessionID
	thread *thread.Thread
	screen *screen
	dir    string // paths below it are shown without it

	mu        sync.Mutex    // guards all below
	held      int           // how many questions are on the screen
	free      chan struct{} // is closed while none is
	replaying bool          // the agent replays a loaded session
	last      *thread.Snapshot
	items     map[int]*seen
	plans     map[string]thread.Plan
	mode      string
	terminals map[string]printed
}

// seen is the part of an item that has been printed.
type seen struct {
	blocks        int    // of a message
	text          string // the last of them
	title, status string // of a tool call, on one line
	full          string // the title that the agent has sent
	content       thread.List[thread.ToolContent]
	diffs         int
	output        string
}

// printed is the part of a terminal that has been printed.
type printed struct {
	bytes int64
	ended bool
}

func newView(s *screen, id acp.SessionID, t *thread.Thread, dir string) *view {
	free := make(chan struct{})
	close(free)
	return &view{id: id, thread: t, screen: s, dir: dir, free: free, items: map[int]*seen{}, plans: map[string]thread.Plan{}, terminals: map[string]printed{}}
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
	if v.held++; v.held == 1 {
		v.free = make(chan struct{})
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.held--; v.held == 0 {
			close(v.free)
		}
		v.drawLocked()
	}
}

// answered returns a channel that is closed while no question is on the screen.
func (v *view) answered() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.free
}

// drawLocked costs what has changed, not what is shown: an agent sends any number of updates about anything.
func (v *view) drawLocked() {
	if v.held > 0 {
		return
	}
	s, changes := v.thread.Since(v.last)
	v.last = s
	for _, c := range changes {
		switch c.Part {
		case thread.PartAll:
			v.all(s)
		case thread.PartItem:
			v.item(s, c.Index)
		case thread.PartTerminal:
			v.terminal(s.Terminals.At(c.Index))
		case thread.PartPlans:
			v.changedPlans(s.Plans)
		case thread.PartModes:
			v.changedMode(s.Modes)
		case thread.PartSuggestions:
			v.suggested(s.Suggestions)
		}
	}
}

func (v *view) all(s *thread.Snapshot) {
	for i := range s.Items.Len() {
		v.item(s, i)
	}
	for _, t := range s.Terminals.All() {
		v.terminal(t)
	}
	v.changedPlans(s.Plans)
	v.changedMode(s.Modes)
	v.suggested(s.Suggestions)
}

func (v *view) changedMode(m *thread.Modes) {
	if m == nil {
		return
	}
	if v.mode != "" && v.mode != m.Current && !v.replaying {
		v.screen.line(dim, "mode: %s", m.Current)
	}
	v.mode = m.Current
}

// item prints the new part of an item.
func (v *view) item(s *thread.Snapshot, i int) {
	p := v.items[i]
	if p == nil {
		p = &seen{}
		v.items[i] = p
	}
	switch it := s.Items.At(i).(type) {
	case *thread.Message:
		v.message(it, p)
	case *thread.ToolCall:
		v.toolCall(s, it, p)
	case *thread.Notice:
		if p.status == "" {
			v.screen.line(yellow, "%s: %s", it.Severity, it.Title)
			if it.Description != "" {
				v.screen.lines(dim, "  "+strings.ReplaceAll(strings.TrimSpace(it.Description), "\n", "\n  "))
			}
		}
		p.status = "shown"
	case *thread.Compaction:
		if p.status != it.Status {
			v.screen.line(dim, "compaction of the history: %s", words(it.Status))
		}
		p.status = it.Status
	case *thread.Subagent:
		if p.status != it.State {
			v.screen.line(dim, "▸ agent %s: %s", it.Title, words(it.State))
		}
		p.status = it.State
	}
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
	n := m.Content.Len()
	if p.blocks > n || p.blocks > 0 && !strings.HasPrefix(blockText(m.Content.At(p.blocks-1)), p.text) {
		p.blocks, p.text = 0, "" // it was replaced: all of it is shown
	}
	for i := max(0, p.blocks-1); i < n; i++ {
		was := ""
		if i == p.blocks-1 {
			was = p.text
		}
		b := m.Content.At(i)
		text := blockText(b)
		switch {
		case text == was:
		case b.Type == thread.BlockText:
			v.screen.stream(style, mark, text[len(was):], i == 0 && was == "")
		default:
			v.screen.line(dim, "%s%s", mark, text)
		}
		p.blocks, p.text = i+1, text
	}
}

func blockText(b thread.Block) string {
	if b.Type == thread.BlockText {
		return b.Text
	}
	return "[" + strings.TrimSpace(words(b.Type)+" "+b.URI) + "]"
}

func (v *view) toolCall(s *thread.Snapshot, c *thread.ToolCall, p *seen) {
	if full := cmp.Or(c.Title, c.ID); full != p.full || p.title == "" {
		p.full = full
		begins := p.title == ""
		p.title = safetext.OneLine(full, shownOfLine)
		if begins {
			v.screen.line(cyan, "▸ %s", p.title)
		}
	}
	if p.content != c.Content {
		p.content = c.Content
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
	}
	status := c.Status
	if c.Open() || c.Ended {
		if !c.Ended {
			return
		}
		status = "ended" // a late update may still have the result
	}
	if p.status == status {
		return
	}
	p.status = status
	output := v.ended(s, c, p)
	if status == thread.ToolFailed {
		v.screen.line(red, "✗ %s", p.title)
		for _, line := range output {
			v.screen.line(dim, "  %s", line)
		}
		return
	}
	for _, line := range output {
		v.screen.line(dim, "  │ %s", line)
	}
	if status == thread.ToolCompleted {
		v.screen.line(green, "✓ %s", p.title)
	} else {
		v.screen.line(dim, "◦ %s%s", p.title, inBrackets(status))
	}
}

// suggested prints the prompts that the agent suggests. Tab puts them at the prompt.
func (v *view) suggested(list []thread.Suggestion) {
	for _, text := range suggestions(list) {
		v.screen.line(dim, "suggested: %s", text)
	}
}

// suggestions returns the suggested prompts that are one line of text, at most a few. A line that chat
// would run itself is none.
func suggestions(list []thread.Suggestion) (texts []string) {
	for _, s := range list {
		if len(s.Prompt) == 1 && s.Prompt[0].Type == thread.BlockText && len(texts) < suggestedAtMost {
			text := s.Prompt[0].Text
			if text == safetext.OneLine(text, suggestedLength) && text == strings.TrimSpace(text) && text != "" && text[0] != ':' {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// Longer suggestions, and more of them, are not shown.
const suggestedAtMost, suggestedLength = 5, 200

func (v *view) changedPlans(plans []thread.Plan) {
	maps.DeleteFunc(v.plans, func(id string, _ thread.Plan) bool { // one that comes again is printed again
		return !slices.ContainsFunc(plans, func(p thread.Plan) bool { return p.ID == id })
	})
	for _, p := range plans {
		if old, known := v.plans[p.ID]; !known || !samePlan(old, p) {
			v.plan(p)
		}
		v.plans[p.ID] = p
	}
}

func (v *view) plan(p thread.Plan) {
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

func samePlan(a, b thread.Plan) bool {
	if len(a.Entries) == len(b.Entries) && len(a.Entries) > 0 && &a.Entries[0] == &b.Entries[0] {
		return true // it is another plan that has changed
	}
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
