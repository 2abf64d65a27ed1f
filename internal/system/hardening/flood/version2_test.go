package flood_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// updatingAgent2 is updatingAgent in version 2.
func updatingAgent2(n, text int) func(*agent2.Conn) acp2.Agent {
	return func(conn *agent2.Conn) acp2.Agent {
		return &peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
			p, ok := params.(*acp2.PromptRequest)
			if !ok {
				return nil, nil
			}
			s := conn.Session(p.SessionID)
			return s.Accept(ctx, p, func(ctx context.Context) (acp2.StopReason, error) {
				for i := range n {
					if err := s.Message(ctx, "m", strconv.Itoa(i)+" "+strings.Repeat("x", text)); err != nil {
						return "", err
					}
				}
				return acp2.StopReasonEndTurn, nil
			})
		}}
	}
}

// TestUpdatesOfATurnThatIsReadLate in version 2, whose turn ends with an update.
func TestUpdatesOfATurnOfVersion2ThatIsReadLate(t *testing.T) {
	n, text, slack := flood()
	n = max(1000, n/4)
	const budget = 1 << 20
	pairtest.Bubble(t, func(t *testing.T) {
		c := newCounter(t, n)
		p := pairtest2.Connect(t, pairtest2.Setup{
			Agent:         updatingAgent2(n, text),
			AgentOptions:  agent2.Options{Limits: agent2.Limits{SendQueue: budget}},
			ClientOptions: client2.Options{Limits: client2.Limits{Backlog: budget}},
		})
		s, err := p.Client.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		turn := s.Prompt(t.Context(), acp2.Text("go"))
		synctest.Wait()
		c.memory.Look()
		for u, err := range turn.Updates() {
			require.NoError(t, err)
			if chunk, ok := u.(*acp2.AgentMessageChunk); ok {
				text, _, _ := strings.Cut(acp2.PlainText(chunk.Content), " ")
				i, err := strconv.Atoi(text)
				require.NoError(t, err)
				c.saw(i)
			}
		}
		_, err = turn.Wait()
		require.NoError(t, err)
		assert.EqualValues(t, n, c.seen.Load())
		c.memory.Within(2*budget + slack)
	})
}

// Very many prompts that the agent holds: they neither count as handlers nor keep others
// from being handled, they keep their order, and a cancel fails all of them with -32800 and
// leaves nothing behind.
func TestHeldPromptsWithoutEnd(t *testing.T) {
	const n = 3000
	pairtest.Bubble(t, func(t *testing.T) {
		var inserted []string
		p := pairtest2.Connect(t, pairtest2.Setup{
			Agent: func(conn *agent2.Conn) acp2.Agent {
				return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					req, ok := params.(*acp2.PromptRequest)
					if !ok {
						return nil, nil
					}
					return conn.Session(req.SessionID).Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
						text := acp2.PlainText(req.Prompt...)
						inserted = append(inserted, text)
						if text == "100" {
							<-ctx.Done()
						}
						return "", ctx.Err()
					})
				}}
			},
			AgentOptions: agent2.Options{Limits: agent2.Limits{MaxHandlers: 2}},
		})
		s, err := p.Client.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		round := func() {
			inserted = nil
			var turns []*client2.Turn
			for i := range n {
				turns = append(turns, s.Prompt(t.Context(), acp2.Text(strconv.Itoa(i))))
			}
			synctest.Wait()
			require.NoError(t, p.Client.Call(t.Context(), "_x", nil, nil), "others are handled meanwhile")
			require.Len(t, inserted, 101)
			require.NoError(t, s.Cancel(t.Context()))
			for i, turn := range turns {
				idle, err := turn.Wait()
				switch {
				case i < 100:
					require.NoError(t, err)
					require.Equal(t, acp2.StopReasonEndTurn, idle.StopReason)
				case i == 100:
					require.NoError(t, err)
					require.Equal(t, acp2.StopReasonCancelled, idle.StopReason)
				default:
					require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
				}
			}
			synctest.Wait()
			for i, text := range inserted {
				require.Equal(t, strconv.Itoa(i), text)
			}
		}
		round() // the runtime keeps something of every goroutine there was at a time
		memory := pairtest.Watch(t)
		round()
		memory.Look()
		memory.Within(2 << 20)
	})
}
