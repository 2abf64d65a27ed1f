package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
)

// CreateElicitation of a session sends the id of that session, whatever the caller has set.
// After the response, the session's state is running again.
func TestCreateElicitationOfASession(t *testing.T) {
	req := &acp.CreateElicitationRequest{Message: "Which?", Mode: &acp.ElicitationFormMode{
		RequestedSchema: acp.ElicitationSchema{Type: "object", Properties: map[string]acp.ElicitationPropertySchema{}},
		Scope:           &acp.ElicitationSessionScope{SessionID: "other", ToolCallID: "call"},
	}}
	var res *acp.CreateElicitationResponse
	scene(t, works{"ask": func(ctx context.Context, s *agent.Session) (_ acp.StopReason, err error) {
		res, err = s.CreateElicitation(ctx, req)
		return "", err
	}}, func(r *raw) {
		r.prompt(1, "ask")
		var params string
		for params == "" {
			if m := r.Next(); m.Method == "elicitation/create" {
				params = string(m.Params)
			}
		}
		assert.JSONEq(t, `{"message":"Which?","mode":"form","sessionId":"s1","toolCallId":"call","requestedSchema":{"type":"object","properties":{}}}`, params)
		r.Send(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
		r.want("running", "idle end_turn")
	})
	require.NotNil(t, res)
	assert.IsType(t, &acp.ElicitationDeclineAction{}, res.Action)
	assert.Equal(t, acp.SessionID("other"), req.Mode.(*acp.ElicitationFormMode).Scope.(*acp.ElicitationSessionScope).SessionID, "it is the caller's")
}
