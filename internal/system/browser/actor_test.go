package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// actorVar makes the test binary an agent whose prompts say what it shows.
const actorVar = "ACPKIT_BROWSER_ACTOR"

func act() int {
	if err := agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return &actor{conn: c} }, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// shareActor runs acp serve with the actor, and returns the address of its page.
func shareActor(t *testing.T) string {
	t.Helper()
	t.Setenv(actorVar, "1")
	exe, err := os.Executable()
	require.NoError(t, err)
	return shareOf(t, exe)
}

type actor struct {
	peertest.Agent
	conn *agent.Conn
}

// script and backwards are what a hostile agent puts everywhere.
const (
	script    = `<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">`
	backwards = "\u202egnihton\u202c"
)

// answer is a message of a model.
const answer = "The comparison in `parse.go` is **the wrong way round**:\n\n```go\nif a > b {\n\treturn \"a long line of code that is wider than a telephone, so that it has to be scrolled by itself\"\n}\n```\n\n" +
	"| file | lines |\n|---|---|\n| parse.go | 12 |\n| parse_test.go | 40 |\n\n1. turn it round\n2. run the tests\n\n> as the *issue* says: https://example.com/issues/12"

func (a *actor) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	var failed error
	send := func(u acp.SessionUpdate) {
		if failed == nil {
			failed = a.conn.SessionUpdate(ctx, &acp.SessionNotification{SessionID: req.SessionID, Update: u})
		}
	}
	say := func(text string) { send(&acp.AgentMessageChunk{Content: acp.Text(text)}) }
	call := func(id, title string, kind acp.ToolKind, status acp.ToolCallStatus, content ...acp.ToolCallContent) {
		send(&acp.ToolCall{ToolCallID: acp.ToolCallID(id), Title: title, Kind: kind, Status: status, Content: content})
	}
	text := func(s string) acp.ToolCallContent { return &acp.Content{Content: acp.Text(s)} }
	before, after := "package parse\n\nfunc less(a, b int) bool {\n\treturn a > b\n}\n", "package parse\n\nfunc less(a, b int) bool {\n\treturn a < b\n}\n"
	switch word, rest, _ := strings.Cut(acp.PlainText(req.Prompt...), " "); word {
	case "tour":
		send(&acp.AgentThoughtChunk{Content: acp.Text("The test compares dates.")})
		call("c1", "Run go test ./...", acp.ToolKindExecute, acp.ToolCallStatusCompleted, text("--- FAIL: TestLess\nFAIL\nexit status 1"))
		say(answer)
		send(&acp.Plan{Entries: []acp.PlanEntry{
			{Content: "Find the failing test", Status: acp.PlanEntryStatusCompleted, Priority: acp.PlanEntryPriorityHigh},
			{Content: "Turn the comparison round", Status: acp.PlanEntryStatusInProgress, Priority: acp.PlanEntryPriorityHigh},
			{Content: "Run the tests again", Status: acp.PlanEntryStatusPending, Priority: acp.PlanEntryPriorityLow},
		}})
		call("c2", "Edit parse.go", acp.ToolKindEdit, acp.ToolCallStatusCompleted, &acp.Diff{Path: "/work/parse.go", OldText: &before, NewText: after})
		call("c3", "Fetch the issue", acp.ToolKindFetch, acp.ToolCallStatusFailed, text("404 Not Found"))
		say("Shall I run the tests?")
		_, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: req.SessionID,
			ToolCall: acp.ToolCallUpdate{ToolCallID: "c4", Title: "go test ./...", Kind: acp.ToolKindExecute, RawInput: json.RawMessage(`{"command":"go test ./..."}`)},
			Options: []acp.PermissionOption{
				{OptionID: "a", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "b", Name: "Yes, and do not ask again", Kind: acp.PermissionOptionKindAllowAlways},
				{OptionID: "c", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			}})
		if err != nil {
			return nil, err
		}
		say("\n\nDone.")
	case "hostile":
		send(&acp.SessionInfoUpdate{Title: acp.Some(script + backwards)})
		send(&acp.AgentThoughtChunk{Content: acp.Text(script)})
		say(script + "\n\n[a](javascript:window.hacked=3) [b](data:text/html,x) ![c](http://127.0.0.1:1/beacon) [safe.example](http://evil.example/) " + backwards + "\n\n<iframe src=x></iframe>\n\n<style>*{display:none}</style>")
		send(&acp.Plan{Entries: []acp.PlanEntry{{Content: script + backwards, Status: acp.PlanEntryStatusPending, Priority: acp.PlanEntryPriorityLow}}})
		call("h", script+backwards, acp.ToolKindOther, acp.ToolCallStatusFailed, text(script+backwards), &acp.Diff{Path: "/" + script, OldText: new(backwards), NewText: script})
		_, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: req.SessionID,
			ToolCall: acp.ToolCallUpdate{ToolCallID: "h", Title: script + backwards, RawInput: json.RawMessage(`{"x":"<b>\u202e"}`)},
			Options:  []acp.PermissionOption{{OptionID: script, Name: script + backwards, Kind: acp.PermissionOptionKindAllowOnce}}})
		if err != nil {
			return nil, err
		}
	case "updates":
		for i := range 100_000 {
			say(fmt.Sprintf("word %d ", i))
		}
	case "calls":
		for i := range 2000 {
			call(fmt.Sprint(i), fmt.Sprintf("call %d", i), acp.ToolKindRead, acp.ToolCallStatusCompleted, text(strings.Repeat("output ", 100)))
		}
	case "huge":
		say("begin" + strings.Repeat("thirty-one MiB ", 2_166_000) + "end")
	case "wait":
		<-ctx.Done()
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case "form":
		_, err := a.conn.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "How shall it be done?", Mode: &acp.ElicitationFormMode{
			Scope: &acp.ElicitationSessionScope{SessionID: req.SessionID},
			RequestedSchema: acp.ElicitationSchema{Required: []string{"name"}, Properties: map[string]acp.ElicitationPropertySchema{
				"name": &acp.StringPropertySchema{Title: "Name", Description: "of the branch"}, "push": &acp.BooleanPropertySchema{Title: "Push it"},
			}},
		}})
		if err != nil {
			return nil, err
		}
	default:
		say(word + " " + rest)
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, failed
}
