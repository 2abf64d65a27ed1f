package acp_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
)

// printer is a minimal client. It prints messages and permits nothing.
type printer struct{}

func (printer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func (printer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		fmt.Println(acp.PlainText(u.Content))
	case *acp.ToolCall:
		fmt.Printf("[%s] %s\n", u.Status, u.Title)
	case *acp.ToolCallUpdate:
		fmt.Printf("[%s] %s\n", u.Status, u.ToolCallID)
	case *acp.UnknownSessionUpdate:
		fmt.Printf("skipped %s\n", u.Type)
	}
	return nil
}

func Example() {
	var client acp.Client = printer{}
	for _, line := range []string{
		`{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Read go.mod","status":"pending"}}`,
		`{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}`,
		`{"sessionId":"s1","update":{"sessionUpdate":"from_the_future","x":1}}`,
		`{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"All done."}}}`,
	} {
		var n acp.SessionNotification
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			fmt.Println(err)
			continue
		}
		_ = client.SessionUpdate(context.Background(), &n)
	}
	// Output:
	// [pending] Read go.mod
	// [completed] t1
	// skipped from_the_future
	// All done.
}

func ExampleOpt() {
	for _, u := range []acp.SessionInfoUpdate{
		{Title: acp.Some("Fix the parser")},
		{Title: acp.Null[string]()},
		{},
	} {
		b, _ := json.Marshal(struct {
			Title acp.Opt[string] `json:"title,omitzero"`
		}{u.Title})
		fmt.Println(string(b))
	}
	// Output:
	// {"title":"Fix the parser"}
	// {"title":null}
	// {}
}

// retryLater tells people and programs what to do about a failed tool call.
type retryLater struct{ seconds int }

func (e retryLater) Error() string { return "rate limited" }

func (e retryLater) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{
		Content:   []acp.ToolCallContent{acp.ToolText(fmt.Sprintf("Rate limited, try again in %d s.", e.seconds))},
		RawOutput: json.RawMessage(fmt.Sprintf(`{"retryAfter":%d}`, e.seconds)),
	}
}

func ExampleToolFailure() {
	err := fmt.Errorf("searching: %w", retryLater{30})
	u := acp.FailToolCall("t1", err)
	fmt.Println(u.Status, string(u.RawOutput))
	// Output: failed {"retryAfter":30}
}
