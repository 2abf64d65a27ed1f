package cancel_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp1 "github.com/acpkit/go-sdk/acp"
	agent1 "github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// work is what an agent does for a prompt.
type work func(ctx context.Context, text string) error

// holders are agents that work on one prompt after the other and hold those behind it.
var holders = map[string]func(work) func(*agent.Conn) acp.Agent{
	"an agent of version 2": func(w work) func(*agent.Conn) acp.Agent {
		return func(c *agent.Conn) acp.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
				req, ok := params.(*acp.PromptRequest)
				if !ok {
					return nil, nil
				}
				return c.Session(req.SessionID).Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
					return acp.StopReasonEndTurn, w(ctx, acp.PlainText(req.Prompt...))
				})
			}}
		}
	},
	"an adapted agent of version 1": func(w work) func(*agent.Conn) acp.Agent {
		return adapter.FromV1(func(*agent1.Conn) acp1.Agent {
			return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp1.PromptRequest) (*acp1.PromptResponse, error) {
				return &acp1.PromptResponse{StopReason: acp1.StopReasonEndTurn}, w(ctx, acp1.PlainText(req.Prompt...))
			}}
		}, nil)
	},
}

// A prompt that the agent holds is cancelled alone, however that is asked for: it fails with
// -32800 and is never worked on. The work before it and the prompts behind it go on, and
// when nothing is held, a cancel ends the work.
func TestCancelOfAHeldPrompt(t *testing.T) {
	ways := map[string]func(turn *client.Turn, end func()){
		"ctx":  func(_ *client.Turn, end func()) { end() },
		"turn": func(turn *client.Turn, _ func()) { _ = turn.Cancel(context.Background()) },
	}
	for holder, newAgent := range holders {
		for way, cancel := range ways {
			for _, proxied := range []bool{false, true} {
				name := holder + ", " + way
				if proxied {
					name += ", through a proxy"
				}
				t.Run(name, func(t *testing.T) {
					pairtest.Bubble(t, func(t *testing.T) { cancelHeld(t, newAgent, proxied, cancel) })
				})
			}
		}
	}
}

func cancelHeld(t *testing.T, newAgent func(work) func(*agent.Conn) acp.Agent, proxied bool, cancel func(*client.Turn, func())) {
	var worked []string
	setup := pairtest2.Setup{Agent: newAgent(func(ctx context.Context, text string) error {
		worked = append(worked, text)
		select {
		case <-time.After(time.Minute):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})}
	if proxied {
		setup.Streams = pairtest2.Proxied(t, pairtest2.Setup{})
	}
	s, err := pairtest2.Connect(t, setup).Client.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	prompt := func(ctx context.Context, text string) *client.Turn {
		turn := s.Prompt(ctx, acp.Text(text))
		synctest.Wait()
		return turn
	}
	ended := func(turn *client.Turn, want acp.StopReason) {
		t.Helper()
		idle, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, want, idle.StopReason)
	}

	first := prompt(t.Context(), "first")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	second := prompt(ctx, "second")
	third := prompt(t.Context(), "third")
	begun := time.Now()
	cancel(second, end)
	_, err = second.Wait()
	require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
	assert.Zero(t, time.Since(begun), "it waits for no work")
	ended(first, acp.StopReasonEndTurn)
	synctest.Wait()
	assert.Equal(t, []string{"first", "third"}, worked)

	// What is part of the conversation is cancelled with its work, and never refused.
	require.NoError(t, third.Cancel(t.Context()))
	ended(third, acp.StopReasonCancelled)
	ctx, end = context.WithCancel(t.Context())
	alone := prompt(ctx, "alone")
	end()
	ended(alone, acp.StopReasonCancelled)
	assert.Equal(t, []string{"first", "third", "alone"}, worked)
}

// Prompts overlap on one session, which is then cancelled: the work ends, what is held fails
// with -32800 and is never worked on, and a prompt that follows the cancel at once goes on.
func TestOverlappingPromptsOfVersion2(t *testing.T) {
	ways := map[string]func(s *client.Session, working *client.Turn) error{
		"session": func(s *client.Session, _ *client.Turn) error { return s.Cancel(context.Background()) },
		"turn":    func(_ *client.Session, working *client.Turn) error { return working.Cancel(context.Background()) },
	}
	for holder, newAgent := range holders {
		for way, cancel := range ways {
			for _, proxied := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, proxied %t", holder, way, proxied), func(t *testing.T) {
					pairtest.Bubble(t, func(t *testing.T) { overlap(t, newAgent, proxied, cancel) })
				})
			}
		}
	}
}

func overlap(t *testing.T, newAgent func(work) func(*agent.Conn) acp.Agent, proxied bool, cancel func(*client.Session, *client.Turn) error) {
	var worked []string
	setup := pairtest2.Setup{Agent: newAgent(func(ctx context.Context, text string) error {
		worked = append(worked, text)
		<-ctx.Done()
		assert.Equal(t, acp.ErrTurnCancelled, context.Cause(ctx))
		return fmt.Errorf("oops: %w", ctx.Err())
	})}
	if proxied {
		setup.Streams = pairtest2.Proxied(t, pairtest2.Setup{})
	}
	p := pairtest2.Connect(t, setup)
	s, err := p.Client.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	cancelled := func(turn *client.Turn) {
		t.Helper()
		idle, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, idle.StopReason)
	}

	first := s.Prompt(t.Context(), acp.Text("first"))
	synctest.Wait()
	var held []*client.Turn
	for i := range 3 {
		held = append(held, s.Prompt(t.Context(), acp.Text(fmt.Sprint("held ", i))))
	}
	synctest.Wait()
	begun := time.Now()
	require.NoError(t, cancel(s, first))
	later := s.Prompt(t.Context(), acp.Text("later"))
	cancelled(first)
	for _, turn := range held {
		_, err := turn.Wait()
		assert.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
	}
	_, err = later.Accepted()
	require.NoError(t, err)
	synctest.Wait()
	assert.IsType(t, &acp.RunningStateUpdate{}, s.State(), "the cancel was before it")
	require.NoError(t, cancel(s, later))
	cancelled(later)
	assert.Equal(t, []string{"first", "later"}, worked)
	require.NoError(t, p.Client.Shutdown(t.Context()))
	require.NoError(t, p.Agent.Shutdown(t.Context())) // a proxy does not end with its client
	assert.Zero(t, time.Since(begun), "nothing is left that is waited for")
}
