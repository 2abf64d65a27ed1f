package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
)

// The text of a tool call is printed at its end. A person who waits for a long one is told what it says.
func TestWorking(t *testing.T) {
	v, th, _ := look("/work", false)
	apply := func(id string, status acp.ToolCallStatus, text string) {
		th.Apply(&acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id), Status: status, Content: []acp.ToolCallContent{&acp.Content{Content: acp.Text(text)}}})
		v.draw()
	}
	assert.Empty(t, v.working())
	th.Apply(&acp.ToolCall{ToolCallID: "1", Title: "go test\n./...", Status: acp.ToolCallStatusInProgress})
	v.draw()
	assert.Empty(t, v.working(), "it says nothing")
	apply("1", acp.ToolCallStatusInProgress, "```console\nruntime\ninternal/\x1b[2Jreflect\n```")
	assert.Equal(t, `go test\n./..., which says: internal/\x1b[2Jreflect`, v.working())
	release := v.hold()
	assert.Empty(t, v.working(), "a question is on the screen")
	release()
	apply("1", acp.ToolCallStatusInProgress, strings.Repeat("x", 1<<20))
	assert.Less(t, len(v.working()), 200)
	apply("1", acp.ToolCallStatusCompleted, "ok")
	assert.Empty(t, v.working(), "it has ended")
}
