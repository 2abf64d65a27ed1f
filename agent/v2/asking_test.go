package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
)

// wantInAnyOrder reads as many messages as it is given: the response to a prompt has no
// fixed place among the updates. want checks the order of what has one.
func (r *raw) wantInAnyOrder(lines ...string) {
	r.t.Helper()
	var got []string
	for range lines {
		got = append(got, r.read())
	}
	assert.ElementsMatch(r.t, lines, got)
}

func TestAskFormTellsTheState(t *testing.T) {
	scene(t, works{"ask": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		_, err := s.AskForm(ctx, "Which branch?", acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}})
		return "", err
	}}, func(r *raw) {
		r.prompt(1, "ask")
		r.wantInAnyOrder("user_message", "running", "response 1", "requires_action", "ask 1")
		r.Send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
		r.want("running", "idle end_turn")
	})
}

// A client may respond to a question with "cancelled" before it cancels the work or closes the
// session. In both cases the work ends as cancelled.
func TestQuestionThatIsCancelledFirst(t *testing.T) {
	scene(t, works{"ask": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		_, err := s.AskPermission(ctx, "May I?", nil)
		return "", err
	}}, func(r *raw) {
		r.prompt(1, "ask")
		r.wantInAnyOrder("user_message", "running", "response 1", "requires_action", "ask 1")
		r.Send(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`)
		r.want("running", "idle cancelled")
	})
}

// What background work asks does not block the foreground, and its state does not change.
func TestBackgroundQuestionLeavesTheState(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *agent.Session) error{
		"permission": func(ctx context.Context, s *agent.Session) error {
			_, err := s.AskPermission(ctx, "May I?", nil)
			return err
		},
		"form": func(ctx context.Context, s *agent.Session) error {
			_, err := s.AskForm(ctx, "Which branch?", acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked chan error // made in the bubble
			scene(t, works{
				"work": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
					b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
					if err != nil {
						return "", err
					}
					go func() { // ends with the response, or with the session
						asked <- ask(b.Context(), s)
						b.End(b.Context())
					}()
					<-ctx.Done()
					return "", ctx.Err()
				},
				"go on": func(context.Context, *agent.Session) (acp.StopReason, error) { return "", nil },
			}, func(r *raw) {
				asked = make(chan error, 1)
				r.prompt(1, "work")
				r.wantInAnyOrder("user_message", "running", "response 1", "running with t1", "ask 1")
				r.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
				r.want("idle cancelled with t1")
				r.prompt(2, "go on")
				r.wantInAnyOrder("user_message", "running with t1", "response 2", "idle end_turn with t1")
				r.Send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
				assert.Error(t, <-asked)
				r.want("idle")
			})
		})
	}
}
