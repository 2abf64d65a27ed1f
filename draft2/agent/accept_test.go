package agent_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// ask is work that asks the user and ends with refusal if the user does not allow it.
func ask(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
	option, err := s.AskPermission(ctx, "May I?", nil)
	if err == nil && !agent.Allows(option) {
		return acp.StopReasonRefusal, nil
	}
	return "", err
}

func askForm(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
	_, err := s.AskForm(ctx, "Which branch?", acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}})
	return "", err
}

// background is work that starts background work and lasts until it is cancelled. The background
// work runs f and reports its error as a message.
func background(f func(ctx context.Context, s *agent.Session) error) func(context.Context, *agent.Session) (acp.StopReason, error) {
	return func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		if err != nil {
			return "", err
		}
		go func() { // ends with f
			_ = s.Message(b.Context(), "b", f(b.Context(), s).Error())
			_ = b.End(b.Context())
		}()
		<-ctx.Done()
		return "", ctx.Err()
	}
}

// The works of the dialogues in accept.txtar. Times pass in the bubble of the dialogue.
var dialogueWorks = works{
	"nothing": func(context.Context, *agent.Session) (acp.StopReason, error) { return "", nil },
	"hello": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		return "", s.Message(ctx, "m", "hello")
	},
	"until cancelled": untilCancelled,
	"a minute": func(context.Context, *agent.Session) (acp.StopReason, error) {
		time.Sleep(time.Minute) // in the bubble of its caller
		return "", nil
	},
	"a minute after the cancel": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		<-ctx.Done()
		time.Sleep(time.Minute) // in the bubble of its caller
		return "", s.Message(ctx, "m", "last words")
	},
	"background work after the cancel": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		<-ctx.Done()
		time.Sleep(time.Second) // in the bubble of its caller
		_, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		time.Sleep(time.Minute) // in the bubble of its caller
		return "", s.Message(ctx, "m", err.Error())
	},
	"secret": func(context.Context, *agent.Session) (acp.StopReason, error) {
		return "", errors.New("/home/me is full")
	},
	"meant": func(context.Context, *agent.Session) (acp.StopReason, error) { return "", rpcerr.AuthRequired(nil) },
	"panic": func(context.Context, *agent.Session) (acp.StopReason, error) { panic("/home/me") },
	"ask":   ask,
	"form":  askForm,
	"form of a tool call": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		_, err := s.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "Which?", Mode: &acp.ElicitationFormMode{
			RequestedSchema: acp.ElicitationSchema{Type: "object", Properties: map[string]acp.ElicitationPropertySchema{}},
			Scope:           &acp.ElicitationSessionScope{SessionID: "other", ToolCallID: "call"},
		}})
		return "", err
	},
	"background": background(func(ctx context.Context, _ *agent.Session) error { <-ctx.Done(); return context.Cause(ctx) }),
	"background permission": background(func(ctx context.Context, s *agent.Session) error {
		_, err := ask(ctx, s)
		return err
	}),
	"background form": background(func(ctx context.Context, s *agent.Session) error {
		_, err := askForm(ctx, s)
		return err
	}),
	"usage": func(_ context.Context, s *agent.Session) (acp.StopReason, error) {
		u := &acp.Usage{TotalTokens: 9}
		s.SetTurnUsage(u)
		u.TotalTokens = 3
		s.SetTurnUsage(u)
		u.TotalTokens = 7
		return "", nil
	},
	"usage that is unknown": func(_ context.Context, s *agent.Session) (acp.StopReason, error) {
		s.SetTurnUsage(&acp.Usage{TotalTokens: 9})
		s.SetTurnUsage(nil)
		return "", nil
	},
	"usage after the turn": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		if err != nil {
			return "", err
		}
		go func() { // ends after the work
			time.Sleep(time.Minute) // in the bubble of its caller
			s.SetTurnUsage(&acp.Usage{TotalTokens: 9})
			_ = b.End(b.Context())
		}()
		return "", nil
	},
}

func TestDialogues(t *testing.T) {
	for _, file := range []string{"accept", "background"} {
		rawpeer.Dialogues(t, "testdata/"+file+".txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
			r, end := initialized(t, newScripted(&scripted{works: dialogueWorks}), nil)
			return r.Peer, end
		})
	}
}

// A prompt that arrives after session/close, but is handled first because its handler is faster,
// also ends with the session.
func TestPromptThatOvertakesClose(t *testing.T) {
	slowClose := func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			if method == acp.MethodSessionClose {
				time.Sleep(time.Minute) // in the bubble
			}
			return next(ctx, method, params)
		}
	}
	scene(t, &agent.Options{Receiving: []acp.Middleware{slowClose}}, works{"late": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
		if err != nil {
			return "", err
		}
		<-b.Context().Done()
		return "", b.End(ctx)
	}}, func(r *raw) {
		r.Call("1", "session/close", `{"sessionId":"s1"}`)
		r.prompt(2, "late")
		r.want("user_message", "running")
		assert.ElementsMatch(t, []string{"response 2", "running with t1"}, []string{r.read(), r.read()})
		r.want("running", "idle cancelled", "response 1")
	})
}

// Accept chooses the id of the message.
func TestAcceptChoosesAnID(t *testing.T) {
	scene(t, nil, works{"any id": func(context.Context, *agent.Session) (acp.StopReason, error) { return "", nil }}, func(r *raw) {
		r.prompt(1, "any id")
		id := regexp.MustCompile(`"messageId":"msg_[A-Z2-7]{26}"`)
		message := id.FindString(r.Next().Raw)
		require.NotEmpty(t, message)
		r.want("running")
		assert.Contains(t, r.Next().Raw+r.Next().Raw, message, "in the response")
	})
}
