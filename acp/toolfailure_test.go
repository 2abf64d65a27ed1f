package acp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

type quotaError struct{ update *acp.ToolCallUpdate }

func (e *quotaError) Error() string                       { return "quota" }
func (e *quotaError) FailedToolCall() *acp.ToolCallUpdate { return e.update }

type wrappingError struct {
	quotaError
	cause error
}

func (e *wrappingError) Unwrap() error { return e.cause }

func TestFailToolCall(t *testing.T) {
	own := &acp.ToolCallUpdate{
		Title: "Ask again at noon", Status: acp.ToolCallStatusCompleted,
		Content: []acp.ToolCallContent{acp.ToolText("quota used up")}, RawOutput: json.RawMessage(`{"retryable":true}`),
	}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"own", fmt.Errorf("running: %w", &quotaError{own}), `{"toolCallId":"t1","status":"failed","title":"Ask again at noon",
			"content":[{"type":"content","content":{"type":"text","text":"quota used up"}}],"rawOutput":{"retryable":true}}`},
		{"own without update", &quotaError{}, `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Internal error"}}],
			"rawOutput":{"code":-32603,"message":"Internal error"}}`},
		{"own without update, over one that has something to say", errors.Join(&quotaError{}, fmt.Errorf("w: %w", rpcerr.AuthRequired(nil))), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Authentication required"}}],
			"rawOutput":{"code":-32000,"message":"Authentication required"}}`},
		{"own below an explicit one is a cause", rpcerr.InternalError(nil).WithCause(&quotaError{own}), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Internal error"}}],
			"rawOutput":{"code":-32603,"message":"Internal error"}}`},
		{"own over an explicit one", fmt.Errorf("w: %w", &wrappingError{quotaError{own}, rpcerr.InternalError("secret")}), `{"toolCallId":"t1","status":"failed","title":"Ask again at noon",
			"content":[{"type":"content","content":{"type":"text","text":"quota used up"}}],"rawOutput":{"retryable":true}}`},
		{"no message", rpcerr.New(-31000, "", nil), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"code -31000"}}],
			"rawOutput":{"code":-31000,"message":"code -31000"}}`},
		{"hint", rpcerr.InvalidParams(map[string]any{"recovery": map[string]any{"hint": "Quote more."}}), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Invalid params\nRecovery: Quote more."}}],
			"rawOutput":{"code":-32602,"message":"Invalid params","data":{"recovery":{"hint":"Quote more."}}}}`},
		{"typed nil", (*rpcerr.RequestError)(nil), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Internal error"}}],
			"rawOutput":{"code":-32603,"message":"Internal error"}}`},
		{"explicit", fmt.Errorf("reading: %w", rpcerr.ResourceNotFound("file:///x")), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Resource not found: file:///x"}}],
			"rawOutput":{"code":-32002,"message":"Resource not found: file:///x","data":{"uri":"file:///x"}}}`},
		{"unexpected", errors.New("secret"), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Internal error"}}],
			"rawOutput":{"code":-32603,"message":"Internal error"}}`},
		{"nil", nil, `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Internal error"}}],
			"rawOutput":{"code":-32603,"message":"Internal error"}}`},
		{"data that cannot be written", rpcerr.InvalidParams(func() {}), `{"toolCallId":"t1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Invalid params"}}],
			"rawOutput":{"code":-32602,"message":"Invalid params"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(&acp.SessionNotification{SessionID: "s", Update: acp.FailToolCall("t1", tt.err)})
			require.NoError(t, err)
			var n struct{ Update map[string]any }
			require.NoError(t, json.Unmarshal(b, &n))
			assert.Equal(t, "tool_call_update", n.Update["sessionUpdate"])
			delete(n.Update, "sessionUpdate")
			b, err = json.Marshal(n.Update)
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(b))
		})
	}
	assert.Equal(t, acp.ToolCallStatusCompleted, own.Status, "the error's own update is not changed")
	assert.Empty(t, own.ToolCallID)
}
