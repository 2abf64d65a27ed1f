package thread_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	v1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/client/v2/thread"
)

// The same updates in both versions: 2000 messages of 50 chunks, and tool calls with a
// change each. ns/update is what counts.
func BenchmarkBothVersions(b *testing.B) {
	const updates = 100_000
	measure := func(name string, step func(th *model.Thread, i int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				th := model.New()
				for i := range updates {
					step(th, i)
					if i%100 == 0 {
						th.Snapshot()
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/updates, "ns/update")
		})
	}
	ids := make([]string, updates/50)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	old, now := &v1.AgentMessageChunk{Content: v1.Text("a few words of text ")}, &acp.AgentMessageChunk{Content: acp.Text("a few words of text ")}
	for range 2 { // twice, in turn, because what runs beside it changes
		measure("chunks, version 1", func(th *model.Thread, i int) {
			old.MessageID = v1.MessageID(ids[i/50])
			th.Apply(old)
		})
		measure("chunks, version 2", func(th *model.Thread, i int) {
			now.MessageID = acp.MessageID(ids[i/50])
			thread.Apply(th, now)
		})
	}
	oldCall := &v1.ToolCallUpdate{Title: "T", Content: []v1.ToolCallContent{&v1.Content{Content: v1.Text("out")}}}
	nowCall := &acp.ToolCallUpdate{Title: acp.Some("T"), Content: acp.Some([]acp.ToolCallContent{&acp.Content{Content: acp.Text("out")}})}
	for range 2 {
		measure("tool calls, version 1", func(th *model.Thread, i int) {
			oldCall.ToolCallID, oldCall.Status = v1.ToolCallID(ids[i/50]), v1.ToolCallStatusInProgress
			th.Apply(oldCall)
		})
		measure("tool calls, version 2", func(th *model.Thread, i int) {
			nowCall.ToolCallID, nowCall.Status = acp.ToolCallID(ids[i/50]), acp.Some(acp.ToolCallStatusInProgress)
			thread.Apply(th, nowCall)
		})
	}
}

// An update must not cost more than in version 1. Allocations can be compared exactly.
func TestUpdatesAllocateNoMoreThanInVersion1(t *testing.T) {
	old, now := model.New(), model.New()
	text := "a few words of text "
	for name, c := range map[string]struct {
		old v1.SessionUpdate
		now acp.SessionUpdate
	}{
		"agent": {&v1.AgentMessageChunk{MessageID: "m", Content: v1.Text(text)}, &acp.AgentMessageChunk{MessageID: "m", Content: acp.Text(text)}},
		"user":  {&v1.UserMessageChunk{MessageID: "m", Content: v1.Text(text)}, &acp.UserMessageChunk{MessageID: "m", Content: acp.Text(text)}},
		"tool call": {&v1.ToolCallUpdate{ToolCallID: "t", Title: "T", Status: v1.ToolCallStatusPending},
			&acp.ToolCallUpdate{ToolCallID: "t", Title: acp.Some("T"), Status: acp.Some(acp.ToolCallStatusPending)}},
		"usage": {&v1.UsageUpdate{Used: 1, Cost: &v1.Cost{}}, &acp.UsageUpdate{Used: 1, Cost: acp.Some(acp.Cost{})}},
	} {
		a := testing.AllocsPerRun(1000, func() { old.Apply(c.old) })
		b := testing.AllocsPerRun(1000, func() { thread.Apply(now, c.now) })
		assert.LessOrEqual(t, b, a, name)
	}
}
