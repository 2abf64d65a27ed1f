package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// formFiller is a client that answers every elicitation with the same action.
type formFiller struct {
	peertest.Client
	action acp.ElicitationAction
	got    []*acp.CreateElicitationRequest
}

func (f *formFiller) CreateElicitation(_ context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	f.got = append(f.got, req)
	return &acp.CreateElicitationResponse{Action: f.action}, nil
}

func (f *formFiller) CompleteElicitation(context.Context, *acp.CompleteElicitationNotification) error {
	return nil
}

func TestAskForm(t *testing.T) {
	form := acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{
		"branch": &acp.StringPropertySchema{Enum: []string{"main", "next"}},
	}}
	for name, tt := range map[string]struct {
		action acp.ElicitationAction
		err    error
	}{
		"filled in": {&acp.ElicitationAcceptAction{Content: map[string]acp.ElicitationContentValue{"branch": acp.ElicitationString("next")}}, nil},
		"refused":   {&acp.ElicitationDeclineAction{}, agent.ErrNoInput},
		"closed":    {&acp.ElicitationCancelAction{}, agent.ErrNoInput},
		"unknown":   {&acp.UnknownElicitationAction{Type: "shrug"}, agent.ErrNoInput},
	} {
		t.Run(name, func(t *testing.T) {
			c := &formFiller{action: tt.action}
			_, err := inPrompt(t, c, nil, func(ctx context.Context, s *agent.Session) error {
				values, err := s.AskForm(ctx, "Which branch?", form)
				require.ErrorIs(t, err, tt.err)
				if err == nil {
					assert.Equal(t, acp.ElicitationString("next"), values["branch"])
				}
				return nil
			})
			require.NoError(t, err)
			require.Len(t, c.got, 1)
			mode := c.got[0].Mode.(*acp.ElicitationFormMode)
			assert.Equal(t, &acp.ElicitationSessionScope{SessionID: "s1"}, mode.Scope)
			assert.Contains(t, mode.RequestedSchema.Properties, "branch")
		})
	}
}

func TestOpenURL(t *testing.T) {
	c := &formFiller{action: &acp.ElicitationAcceptAction{}}
	_, err := inPrompt(t, c, nil, func(ctx context.Context, s *agent.Session) error {
		id, err := s.OpenURL(ctx, "Sign in", "https://example.com/login")
		require.NoError(t, err)
		assert.Equal(t, id, c.got[0].Mode.(*acp.ElicitationURLMode).ElicitationID)

		_, err = s.OpenURL(ctx, "Look", "file:///etc/passwd")
		var invalid *acp.InvalidError
		require.ErrorAs(t, err, &invalid)
		return nil
	})
	require.NoError(t, err)
	assert.Len(t, c.got, 1, "only web pages are sent")
}

// Every elicitation is checked, whether it is sent by name or by its method.
func TestElicitationsByNameAreChecked(t *testing.T) {
	c := &formFiller{action: &acp.ElicitationAcceptAction{}}
	p := open(t, func(*agent.Conn) acp.Agent { return &peertest.Agent{} }, c, nil)
	question := map[string]any{"mode": "url", "elicitationId": "e", "url": "file:///etc/passwd", "requestId": 1, "message": "Look"}
	var invalid *acp.InvalidError
	require.ErrorAs(t, p.agent.Call(t.Context(), "elicitation/create", question, nil), &invalid)
	question["url"] = "HTTPS://example.com/x?y"
	require.NoError(t, p.agent.Call(t.Context(), "elicitation/create", question, nil))
	assert.Len(t, c.got, 1)
}

// An elicitation of a Session has the session's id, whatever it had before, and the id of its tool
// call.
func TestCreateElicitationOfASession(t *testing.T) {
	scope := &acp.ElicitationSessionScope{SessionID: "other", ToolCallID: "call"}
	for name, mode := range map[string]acp.ElicitationMode{
		"form": &acp.ElicitationFormMode{Scope: scope, RequestedSchema: acp.ElicitationSchema{Type: "object", Properties: map[string]acp.ElicitationPropertySchema{}}},
		"page": &acp.ElicitationURLMode{Scope: scope, ElicitationID: "e", URL: "https://example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &formFiller{action: &acp.ElicitationDeclineAction{}}
			_, err := inPrompt(t, c, nil, func(ctx context.Context, s *agent.Session) error {
				res, err := s.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "m", Mode: mode})
				require.NoError(t, err)
				assert.IsType(t, &acp.ElicitationDeclineAction{}, res.Action, "as it is")
				return nil
			})
			require.NoError(t, err)
			require.Len(t, c.got, 1)
			var got acp.ElicitationScope
			switch mode := c.got[0].Mode.(type) {
			case *acp.ElicitationFormMode:
				got = mode.Scope
			case *acp.ElicitationURLMode:
				got = mode.Scope
			}
			assert.Equal(t, &acp.ElicitationSessionScope{SessionID: "s1", ToolCallID: "call"}, got)
			assert.Equal(t, acp.SessionID("other"), scope.SessionID, "it is the caller's")
		})
	}
}
