package cancel_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

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
