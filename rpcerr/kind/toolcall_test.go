package kind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var _ acp.ToolFailure = (*kind.Error)(nil)

// The response to a request and the end of a tool call carry the same facts.
func TestBothSurfaces(t *testing.T) {
	e := kind.RateLimited.New("slow down").WithRetryAfter(time.Second).WithHint("Ask for less.").With("limit", 10).WithReason("quota").WithStatus(429)
	u := acp.FailToolCall("t1", fmt.Errorf("wrapped: %w", e.WithCause(errors.New("secret")).WithDebug("secret")))
	assert.Equal(t, acp.ToolCallID("t1"), u.ToolCallID)
	assert.Equal(t, acp.ToolCallStatusFailed, u.Status)
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText("Error: slow down\nRecovery: Ask for less.")}, u.Content)
	wire, err := json.Marshal(rpcerr.From(e))
	require.NoError(t, err)
	assert.JSONEq(t, string(wire), string(u.RawOutput))
	assert.NotContains(t, string(u.RawOutput), "secret")

	b, err := json.Marshal(u)
	require.NoError(t, err)
	var back acp.ToolCallUpdate
	require.NoError(t, json.Unmarshal(b, &back))
	got, ok := kind.FromToolCall(&back)
	assert.True(t, ok)
	assert.Equal(t, e, got)
}

func TestFromToolCallOfOthers(t *testing.T) {
	for _, u := range []*acp.ToolCallUpdate{
		nil,
		{Status: acp.ToolCallStatusCompleted, RawOutput: json.RawMessage(`{"code":1,"message":"m"}`)},
		{Status: acp.ToolCallStatusFailed},
		{Status: acp.ToolCallStatusFailed, RawOutput: json.RawMessage(`"text"`)},
	} {
		_, ok := kind.FromToolCall(u)
		assert.False(t, ok)
	}
	// An error that was not written for the peer: the code and the fixed text.
	got, ok := kind.FromToolCall(acp.FailToolCall("t", errors.New("secret")))
	assert.True(t, ok)
	assert.Equal(t, &kind.Error{Kind: kind.Internal, Message: "Internal error"}, got)
	assert.Nil(t, (*kind.Error)(nil).FailedToolCall())
}

// An error with a code is shown in the form that has a place for the code.
func TestTextWithACode(t *testing.T) {
	e := kind.Conflict.New("taken").WithCode("NAME_TAKEN").WithHint("Choose another.")
	assert.Equal(t, "[ERROR code=NAME_TAKEN category=validation retryable=false] taken\n\n```json\n"+
		`{"code":"NAME_TAKEN","category":"validation","retryable":false}`+"\n```", e.Text())
	want := strings.Replace(e.Text(), "taken\n", "taken\nRecovery: Choose another.\n", 1)
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText(want)}, e.FailedToolCall().Content)
	for k, code := range map[kind.Kind]string{
		kind.Forbidden: "AUTH_ERROR", kind.RateLimited: "RATE_LIMITED", kind.MethodNotFound: "NOT_FOUND", kind.InvalidParams: "VALIDATION_ERROR",
		kind.Database: "INTERNAL_ERROR", kind.Cancelled: "TIMEOUT", kind.Unknown: "UNKNOWN_ERROR", kind.ContextRequired: "INTERNAL_ERROR",
	} {
		assert.Contains(t, k.New("m").Text(), "[ERROR code="+code+" ", string(k))
	}
	assert.Empty(t, (*kind.Error)(nil).Text())
}
