package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/acpkit/go-sdk/acp"
)

// screen prints a conversation. Its methods may be called from any goroutine.
type screen struct {
	mu     sync.Mutex // guards what follows
	out    io.Writer
	inText bool // the last thing printed was a piece of a message
	titles map[acp.ToolCallID]string
}

func newScreen(out io.Writer) *screen {
	return &screen{out: out, titles: map[acp.ToolCallID]string{}}
}

func (s *screen) update(u acp.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch u := u.(type) {
	case *acp.AgentMessageChunk:
		s.text(u.Content)
	case *acp.AgentThoughtChunk:
		if t, ok := u.Content.(*acp.TextContent); ok {
			s.line("· %s", strings.TrimSpace(t.Text))
		}
	case *acp.ToolCall:
		s.titles[u.ToolCallID] = u.Title
		s.line("▸ %s", u.Title)
		s.content(u.Content)
	case *acp.ToolCallUpdate:
		if u.Title != "" {
			s.titles[u.ToolCallID] = u.Title
		}
		if u.Status == acp.ToolCallStatusFailed {
			s.line("✗ %s", s.title(u.ToolCallID))
		}
		if u.Status != acp.ToolCallStatusCompleted { // then it was shown before
			s.content(u.Content)
		}
	case *acp.Plan:
		s.line("plan:")
		for _, e := range u.Entries {
			s.line("  %s %s", mark(e.Status), e.Content)
		}
	case *acp.CurrentModeUpdate:
		s.line("mode: %s", u.CurrentModeID)
	case *acp.Notice:
		s.line("%s: %s", u.Severity, u.Title)
	}
}

func mark(status acp.PlanEntryStatus) string {
	switch status {
	case acp.PlanEntryStatusCompleted:
		return "✓"
	case acp.PlanEntryStatusInProgress:
		return "▸"
	default:
		return "·"
	}
}

func (s *screen) text(block acp.ContentBlock) {
	if t, ok := block.(*acp.TextContent); ok && t.Text != "" {
		fmt.Fprint(s.out, printable(t.Text))
		s.inText = !strings.HasSuffix(t.Text, "\n")
	}
}

// content shows what a person wants to see of a tool call while it runs: how files
// change. What it read is for the agent.
func (s *screen) content(all []acp.ToolCallContent) {
	for _, c := range all {
		if d, ok := c.(*acp.Diff); ok {
			before := 0
			if d.OldText != nil {
				before = strings.Count(*d.OldText, "\n")
			}
			s.line("  %s: %d lines, were %d", d.Path, strings.Count(d.NewText, "\n"), before)
		}
	}
}

func (s *screen) title(id acp.ToolCallID) string {
	if t := s.titles[id]; t != "" {
		return t
	}
	return string(id)
}

// question shows what the agent asks permission for and, to someone who can choose,
// what can be answered.
func (s *screen) question(req *acp.RequestPermissionRequest, choices bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.ToolCall.Title != "" {
		s.titles[req.ToolCall.ToolCallID] = req.ToolCall.Title
	}
	s.line("? %s", s.title(req.ToolCall.ToolCallID))
	s.content(req.ToolCall.Content)
	if !choices {
		return
	}
	for i, o := range req.Options {
		s.line("  %d %s", i+1, o.Name)
	}
}

// line starts a new line if a message has not ended its own.
func (s *screen) line(format string, args ...any) {
	s.endLineLocked()
	fmt.Fprintln(s.out, printable(fmt.Sprintf(format, args...)))
}

func (s *screen) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line("%s", text)
}

func (s *screen) prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLineLocked()
	fmt.Fprint(s.out, text)
}

func (s *screen) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLineLocked()
}

func (s *screen) endLineLocked() {
	if s.inText {
		fmt.Fprintln(s.out)
		s.inText = false
	}
}

// printable takes the control characters out of what comes from the agent: a
// terminal obeys them, and an agent could repaint the question it asks.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}
