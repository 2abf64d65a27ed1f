package faults_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// A middleware of the agent does its misdeed at each message about a prompt that the library
// sends for the agent: when the prompt is accepted, around background work and a question,
// and at the end, on a goroutine of the library. The prompt fails, and nothing of it is left:
// the session goes on with the next one.
func TestMisdeedsWhileAccepting(t *testing.T) {
	updates := []string{"message", "running", "background", "end of background", "requires action", "running again", "idle"}
	for way, misdeed := range outgoing {
		if misdeed == nil {
			continue
		}
		for i, what := range updates {
			t.Run(fmt.Sprint(what, ", ", way), func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) { misdeedWhileAccepting(t, misdeed, i, len(updates)) })
			})
		}
	}
}

// misdeedWhileAccepting does the misdeed at update at of all.
func misdeedWhileAccepting(t *testing.T, misdeed func() error, at, all int) {
	sent, done := 0, false
	p := pairtest2.Connect(t, pairtest2.Setup{
		Agent: func(c *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
				req, ok := params.(*acp2.PromptRequest)
				if !ok {
					return nil, nil
				}
				s := c.Session("s")
				return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
					if acp2.PlainText(req.Prompt...) != "go" {
						return acp2.StopReasonEndTurn, nil
					}
					background, err := s.StartBackground(ctx, &acp2.BackgroundTerminal{TerminalID: "t"})
					if err != nil {
						return "", err
					}
					if err := background.End(ctx); err != nil {
						return "", err
					}
					_, err = s.AskPermission(ctx, "May I?", nil)
					return acp2.StopReasonEndTurn, err
				})
			}}
		},
		AgentOptions: agent2.Options{Sending: []acp.Middleware{func(next acp.Handler) acp.Handler {
			return func(ctx context.Context, method string, params any) (any, error) {
				if _, ok := params.(*acp2.UpdateSessionNotification); ok {
					if sent++; sent == at+1 {
						done = true
						return nil, misdeed()
					}
				}
				return next(ctx, method, params)
			}
		}}},
	})
	s := p.Client.Session("s")
	first := s.Prompt(t.Context(), acp2.Text("go"))
	synctest.Wait()
	require.True(t, done)
	second := s.Prompt(t.Context(), acp2.Text("go on"))
	synctest.Wait()
	begun := time.Now()
	_, err := first.Wait()
	if at < all-1 {
		code, _ := rpcerr.CodeOf(err)
		assert.Equal(t, rpcerr.CodeInternalError, code, "%v", err)
	} else { // one idle state ends both
		assert.NoError(t, err)
	}
	var states []acp2.StateUpdate
	for u, err := range second.Updates() {
		require.NoError(t, err)
		if u, ok := u.(*acp2.SessionStateUpdate); ok {
			states = append(states, u.StateUpdate)
		}
	}
	none := []acp2.BackgroundWork{}
	assert.Equal(t, []acp2.StateUpdate{
		&acp2.RunningStateUpdate{Background: none},
		&acp2.IdleStateUpdate{Background: none, StopReason: acp2.StopReasonEndTurn},
	}, states)
	require.NoError(t, p.Client.Shutdown(t.Context()))
	require.NoError(t, p.Agent.Wait())
	assert.Zero(t, time.Since(begun), "no work is left")
}
