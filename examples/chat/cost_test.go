package main

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// An agent that sends something large and then many small updates does not keep chat from anything else: an update
// costs what it changes, whatever is on the screen and however large. The cost is counted in bytes allocated, which
// no other load changes.
func TestDrawingCostsWhatChanged(t *testing.T) {
	big := strings.Repeat("x\u202e ", 250_000) // 1.25 MB that cannot be printed as they are
	entries := make([]acp.PlanEntry, 5000)
	for i := range entries {
		entries[i] = acp.PlanEntry{Content: fmt.Sprint("step ", i), Status: acp.PlanEntryStatusPending}
	}
	content := make([]acp.ToolCallContent, 5000)
	for i := range content {
		content[i] = &acp.Content{Content: acp.Text("a block")}
	}
	small := func() acp.SessionUpdate { return &acp.AgentMessageChunk{Content: acp.Text("x")} }
	ofCall := func() acp.SessionUpdate { return &acp.ToolCallUpdate{ToolCallID: "1", Kind: acp.ToolKindEdit} }
	for name, c := range map[string]struct {
		before []acp.SessionUpdate
		update func() acp.SessionUpdate
	}{
		"a title":          {[]acp.SessionUpdate{&acp.ToolCall{ToolCallID: "1", Title: big}}, small},
		"its own title":    {[]acp.SessionUpdate{&acp.ToolCall{ToolCallID: "1", Title: big}}, ofCall},
		"blocks of a call": {[]acp.SessionUpdate{&acp.ToolCall{ToolCallID: "1", Title: "T", Content: content}}, ofCall},
		"open calls": {func() (all []acp.SessionUpdate) {
			for i := range 5000 {
				all = append(all, &acp.ToolCall{ToolCallID: acp.ToolCallID(fmt.Sprint(i)), Title: "T"})
			}
			return all
		}(), small},
		"blocks of a message": {func() (all []acp.SessionUpdate) {
			for i := range 5000 {
				all = append(all, &acp.AgentMessageChunk{MessageID: "m", Content: &acp.ResourceLink{URI: fmt.Sprint("file:///", i), Name: "n"}})
			}
			return all
		}(), func() acp.SessionUpdate { return &acp.AgentMessageChunk{MessageID: "m", Content: acp.Text("x")} }},
		"a plan":          {[]acp.SessionUpdate{&acp.Plan{Entries: entries}}, small},
		"a plan, another": {[]acp.SessionUpdate{&acp.Plan{Entries: entries}}, func() acp.SessionUpdate { return &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "2"}} }},
		"a terminal": {[]acp.SessionUpdate{&acp.ToolCallUpdate{ToolCallID: "1", Meta: acp.Meta{"terminal_output": map[string]any{"data": big}}}},
			func() acp.SessionUpdate {
				return &acp.ToolCallUpdate{ToolCallID: "2", Meta: acp.Meta{"terminal_output": map[string]any{"data": "x\n"}}}
			}},
		"terminals": {func() (all []acp.SessionUpdate) {
			for i := range 5000 {
				all = append(all, &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(fmt.Sprint(i)), Meta: acp.Meta{"terminal_output": map[string]any{"data": "x\n"}}})
			}
			return all
		}(), small},
	} {
		v := newView(newScreen(discard{}, true), "s", thread.New(), "/work")
		for _, u := range c.before {
			v.thread.Apply(u)
			v.draw()
		}
		one := func() {
			v.thread.Apply(c.update())
			v.draw()
		}
		for range 10 { // what grows by doubling has grown
			one()
		}
		const updates = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range updates {
			one()
		}
		runtime.ReadMemStats(&after)
		cost := (after.TotalAlloc - before.TotalAlloc) / updates
		t.Logf("%s: %d bytes an update", name, cost)
		assert.Less(t, cost, uint64(8<<10), name)
	}
}

// discard drops what is written. Unlike io.Discard it takes no part of a text for a reason to copy it.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// What is cut from a line is not looked at.
func TestLinesAreCutBeforeTheyAreCleaned(t *testing.T) {
	s := newScreen(discard{}, false)
	for _, text := range []string{strings.Repeat("\x01", 8<<20), strings.Repeat(" ", 8<<20), strings.Repeat("é", 4<<20)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.line(plain, "▸ %s", text)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10))
	}
}
