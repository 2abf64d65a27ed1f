package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

func look(dir string, color bool) (*view, *thread.Thread, *bytes.Buffer) {
	var out bytes.Buffer
	th := thread.New()
	return newView(newScreen(&out, color), "s", th, dir), th, &out
}

func TestView(t *testing.T) {
	call := func(id, title string, status acp.ToolCallStatus, content ...acp.ToolCallContent) *acp.ToolCall {
		return &acp.ToolCall{ToolCallID: acp.ToolCallID(id), Title: title, Status: status, Content: content}
	}
	change := func(id string, status acp.ToolCallStatus, content ...acp.ToolCallContent) *acp.ToolCallUpdate {
		return &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id), Status: status, Content: content}
	}
	say := func(text string) acp.SessionUpdate { return &acp.AgentMessageChunk{Content: acp.Text(text)} }
	text := func(text string) acp.ToolCallContent { return &acp.Content{Content: acp.Text(text)} }
	entry := func(text string, status acp.PlanEntryStatus) acp.PlanEntry {
		return acp.PlanEntry{Content: text, Status: status, Priority: acp.PlanEntryPriorityHigh}
	}
	suggest := func(texts ...string) acp.SessionUpdate {
		u := &acp.PromptSuggestionsUpdate{}
		for _, text := range texts {
			u.Suggestions = append(u.Suggestions, acp.PromptSuggestion{Prompt: []acp.ContentBlock{acp.Text(text)}})
		}
		return u
	}
	for name, tt := range map[string]struct {
		updates []acp.SessionUpdate
		want    string
	}{
		"pieces of a message":   {[]acp.SessionUpdate{say("Hel"), say("lo.\n"), say("More")}, "Hello.\nMore"},
		"what a terminal obeys": {[]acp.SessionUpdate{say("a\x1b[2Jb\r\n")}, "ab\n"},
		"a thought": {[]acp.SessionUpdate{&acp.AgentThoughtChunk{Content: acp.Text("so")}, &acp.AgentThoughtChunk{Content: acp.Text(" far")}, say("Hi")},
			"· so far\nHi"},
		"a tool call": {[]acp.SessionUpdate{say("I look."), call("1", "Read a", acp.ToolCallStatusPending), change("1", acp.ToolCallStatusInProgress),
			change("1", acp.ToolCallStatusCompleted), change("1", "")}, "I look.\n▸ Read a\n✓ Read a\n"},
		"two at once": {[]acp.SessionUpdate{call("1", "A", acp.ToolCallStatusInProgress), call("2", "B", acp.ToolCallStatusInProgress),
			change("1", acp.ToolCallStatusCompleted), change("2", acp.ToolCallStatusFailed, text("no\nway"))}, "▸ A\n▸ B\n✓ A\n✗ B\n  no\n  way\n"},
		"what a call reports": {[]acp.SessionUpdate{call("1", "Run", acp.ToolCallStatusInProgress, text("one\n")), say("Wait."),
			change("1", acp.ToolCallStatusCompleted, text("```console\none\ntwo\n```"))}, "▸ Run\nWait.\n  │ one\n  │ two\n✓ Run\n"},
		"a failure": {[]acp.SessionUpdate{call("1", "Write", acp.ToolCallStatusPending, &acp.Diff{Path: "/work/a", NewText: "x"}),
			&acp.ToolCallUpdate{ToolCallID: "1", Status: acp.ToolCallStatusFailed, RawOutput: []byte(`{"message":"Path already exists"}`)}},
			"▸ Write\n  a  +1 -0\n  + x\n✗ Write\n  Path already exists\n"},
		"much": {[]acp.SessionUpdate{call("1", "Read", acp.ToolCallStatusCompleted, text(strings.Repeat("x\n", 22)))}, "▸ Read\n" + strings.Repeat("  │ x\n", 20) + "  │ ... 2 lines more\n✓ Read\n"},
		"output in _meta": {[]acp.SessionUpdate{call("1", "Run", acp.ToolCallStatusInProgress),
			&acp.ToolCallUpdate{ToolCallID: "1", Meta: acp.Meta{"terminal_output_delta": map[string]any{"data": "one\ntw"}}}, call("2", "Other", ""),
			&acp.ToolCallUpdate{ToolCallID: "1", Status: acp.ToolCallStatusCompleted, RawOutput: []byte(`"one\ntwo\n"`), Meta: acp.Meta{
				"terminal_output": map[string]any{"data": "o\n"}, "terminal_exit": map[string]any{"exit_code": 2.}}}},
			"▸ Run\n  │ one\n▸ Other\n  │ two\n  (exit status 2)\n✓ Run\n"},
		"a diff": {[]acp.SessionUpdate{call("1", "Edit", acp.ToolCallStatusInProgress, &acp.Diff{Path: "/work/a/b.go", OldText: new("one\ntwo\n"), NewText: "one\n2\n"})},
			"▸ Edit\n  a/b.go  +1 -1\n    one\n  - two\n  + 2\n"},
		"a new file elsewhere": {[]acp.SessionUpdate{call("1", "Edit", acp.ToolCallStatusInProgress, &acp.Diff{Path: "/tmp/x", NewText: "one\n"})},
			"▸ Edit\n  /tmp/x  +1 -0\n  + one\n"},
		"a plan that changes once": {[]acp.SessionUpdate{
			&acp.Plan{Entries: []acp.PlanEntry{entry("a", acp.PlanEntryStatusInProgress), entry("b", acp.PlanEntryStatusPending)}},
			&acp.Plan{Entries: []acp.PlanEntry{entry("a", acp.PlanEntryStatusInProgress), entry("b", acp.PlanEntryStatusPending)}},
			&acp.Plan{Entries: []acp.PlanEntry{entry("a", acp.PlanEntryStatusCompleted), entry("b", acp.PlanEntryStatusInProgress)}},
		}, "plan:\n  ▸ a\n  · b\nplan:\n  ✓ a\n  ▸ b\n"},
		"several plans": {[]acp.SessionUpdate{
			&acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "a", Entries: []acp.PlanEntry{entry("a", acp.PlanEntryStatusPending)}}},
			&acp.PlanUpdate{Plan: &acp.PlanMarkdown{PlanID: "m", Content: "# M\nmore", Path: "/work/m.md"}},
			&acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "a", Entries: []acp.PlanEntry{entry("a", acp.PlanEntryStatusPending)}}},
			&acp.PlanRemoved{PlanID: "a"},
			&acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "a", Entries: []acp.PlanEntry{entry("a", acp.PlanEntryStatusPending)}}},
		}, "plan:\n  · a\nplan: /work/m.md\n# M\nmore\nplan:\n  · a\n"},
		"suggestions": {[]acp.SessionUpdate{
			suggest("Run the tests", ":quit", "two\nlines", "\x1b[2J", "", "Commit"), say("Hi"), suggest(), suggest("Run the tests"),
		}, "suggested: Run the tests\nsuggested: Commit\nHi\nsuggested: Run the tests\n"},
		"many suggestions":        {[]acp.SessionUpdate{suggest("1", "2", "3", "4", "5", "6")}, "suggested: 1\nsuggested: 2\nsuggested: 3\nsuggested: 4\nsuggested: 5\n"},
		"a notice":                {[]acp.SessionUpdate{&acp.Notice{Severity: "warning", Title: "slow today"}}, "warning: slow today\n"},
		"a notice with details":   {[]acp.SessionUpdate{&acp.Notice{Severity: "warning", Title: "slow today", Description: "The model is busy.\nWait."}}, "warning: slow today\n  The model is busy.\n  Wait.\n"},
		"an image":                {[]acp.SessionUpdate{&acp.AgentMessageChunk{Content: &acp.ImageContent{Data: "x", MIMEType: "image/png"}}}, "[image]\n"},
		"what chat does not know": {[]acp.SessionUpdate{&acp.UnknownSessionUpdate{Type: "x", Raw: []byte(`{"sessionUpdate":"x"}`)}, say("Hi")}, "Hi"},
		"an id comes back": {[]acp.SessionUpdate{
			&acp.AgentMessageChunk{MessageID: "1", Content: acp.Text("one")}, &acp.AgentMessageChunk{MessageID: "2", Content: acp.Text("two")},
			&acp.AgentMessageChunk{MessageID: "1", Content: acp.Text(" more")}}, "one\ntwo more"},
	} {
		t.Run(name, func(t *testing.T) {
			v, th, out := look("/work", false)
			for _, u := range tt.updates {
				th.Apply(u)
				v.draw()
			}
			v.draw()
			assert.Equal(t, tt.want, out.String())
		})
	}
}

// A call that is open at the end of the turn is shown as ended. A late update still shows its
// result.
func TestCallsThatTheTurnLeftOpen(t *testing.T) {
	v, th, out := look("/", false)
	th.Prompt(nil)
	th.Apply(&acp.ToolCall{ToolCallID: "1", Title: "Run", Status: acp.ToolCallStatusInProgress})
	th.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil)
	v.draw()
	for range 8 {
		th.Apply(&acp.Notice{Severity: "info", Title: "later"})
		v.draw()
	}
	th.Apply(&acp.ToolCallUpdate{ToolCallID: "1", Status: acp.ToolCallStatusFailed})
	v.draw()
	assert.Equal(t, "▸ Run\n◦ Run (ended)\n"+strings.Repeat("info: later\n", 8)+"✗ Run\n", out.String())
}

// A message that no longer begins with what was printed is printed anew.
func TestReplacedMessages(t *testing.T) {
	v, th, out := look("/", false)
	blocks := func(texts ...string) *[]thread.Block {
		var all []thread.Block
		for _, text := range texts {
			all = append(all, thread.Block{Type: thread.BlockText, Text: text})
		}
		return &all
	}
	for _, content := range []*[]thread.Block{blocks("One thing."), blocks("One thing. And another."), blocks("Short."), blocks("Short.", " More."), blocks("New.", " More.")} {
		th.Do(thread.MessageChanged{ID: "m", Role: thread.RoleAgent, Content: content})
		v.draw()
	}
	v.draw()
	assert.Equal(t, "One thing. And another.\nShort. More.\nNew. More.", out.String())
}

func TestColors(t *testing.T) {
	for color, want := range map[bool]string{true: "\x1b[36m▸ Edit\x1b[0m", false: "▸ Edit\n"} {
		v, th, out := look("/", color)
		th.Apply(&acp.ToolCall{ToolCallID: "1", Title: "Edit", Content: []acp.ToolCallContent{&acp.Diff{Path: "/a", OldText: new("x\n"), NewText: "y\n"}}})
		v.draw()
		assert.Contains(t, out.String(), want)
		assert.Equal(t, color, strings.Contains(out.String(), "\x1b"))
	}
}

func TestCompared(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"equal":          {"a\n", "a\n", ""},
		"in the middle":  {"a\nb\nc\n", "a\nx\nc\n", "  a|- b|+ x|  c"},
		"no end of line": {"a", "a\nb", "  a|+ b"},
		"replaced":       {"a\nb\n", "c\nd\n", "- a|- b|+ c|+ d"},
		"too many lines": {strings.Repeat("a\nx\n", 1500), strings.Repeat("b\nx\n", 1500), strings.Repeat("- a|- x|", 1499) + "- a|" + strings.Repeat("+ b|+ x|", 1499) + "+ b|  x"},
		"far apart":      {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n", "- 1|+ x|  2|  3|  4|@ |  6|  7|  8|- 9|+ y"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, inOneLine(near(compared(linesOf(&tt.old), linesOf(&tt.new)))))
		})
	}
}

// inOneLine returns the lines of a change in one line.
func inOneLine(lines []diffLine) string {
	var all []string
	for _, l := range lines {
		all = append(all, string(l.op)+" "+l.text)
	}
	return strings.Join(all, "|")
}
