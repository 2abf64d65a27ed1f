package flood_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
)

// number2 is the number of an update that numbered2 made, or -1.
func number2(u acp2.SessionUpdate) int {
	chunk, ok := u.(*acp2.AgentMessageChunk)
	if !ok {
		return -1
	}
	s, _, _ := strings.Cut(acp2.PlainText(chunk.Content), " ")
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// updatingAgent2 is updatingAgent in version 2.
func updatingAgent2(n, text int, sent func()) func(*agent2.Conn) acp2.Agent {
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
					sent()
				}
				return acp2.StopReasonEndTurn, nil
			})
		}}
	}
}

// A turn with very many updates in version 2, directly and through a proxy, each of which
// takes the client a millisecond: nothing is lost, the order is kept, the agent is slowed
// down, and all of them were handled when the turn ends.
func TestUpdatesOfVersion2(t *testing.T) {
	n, text, slack := flood()
	n = max(1000, n/4)
	const budget = 1 << 20
	for _, proxied := range []bool{false, true} {
		t.Run(fmt.Sprint("proxied ", proxied), func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				var sent atomic.Int64
				c := newCounter(t, n)
				setup := pairtest2.Setup{
					AgentOptions:  agent2.Options{Limits: acp2.Limits{SendQueue: budget}},
					ClientOptions: client2.Options{Limits: acp2.Limits{Backlog: budget}},
				}
				most := int64(4 * budget)
				if proxied {
					setup.Streams = pairtest2.Proxied(t, setup)
					most *= 2
				}
				setup.Agent = updatingAgent2(n, text, func() { sent.Add(1) })
				setup.Client = func(*client2.Conn) acp2.Client {
					return &peertest2.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
						i := number2(params.(*acp2.UpdateSessionNotification).Update)
						if i < 0 {
							return nil, nil
						}
						time.Sleep(time.Millisecond)
						c.saw(i)
						if ahead := sent.Load() - c.seen.Load(); ahead*int64(text+150) > most {
							t.Errorf("the agent is %d updates ahead", ahead)
						}
						return nil, nil
					}}
				}
				s, err := pairtest2.Connect(t, setup).Client.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
				require.NoError(t, err)
				idle, err := s.Prompt(t.Context(), acp2.Text("go")).Wait()
				require.NoError(t, err)
				assert.Equal(t, acp2.StopReasonEndTurn, idle.StopReason)
				assert.EqualValues(t, n, c.seen.Load())
				c.memory.Within(4*budget + slack)
			})
		})
	}
}

// The same with a Turn that is read late: its updates count as well.
func TestUpdatesOfATurnOfVersion2ThatIsReadLate(t *testing.T) {
	n, text, slack := flood()
	n = max(1000, n/4)
	const budget = 1 << 20
	pairtest.Bubble(t, func(t *testing.T) {
		c := newCounter(t, n)
		p := pairtest2.Connect(t, pairtest2.Setup{
			Agent:         updatingAgent2(n, text, func() {}),
			AgentOptions:  agent2.Options{Limits: acp2.Limits{SendQueue: budget}},
			ClientOptions: client2.Options{Limits: acp2.Limits{Backlog: budget}},
		})
		s, err := p.Client.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		turn := s.Prompt(t.Context(), acp2.Text("go"))
		synctest.Wait()
		c.memory.Look()
		for u, err := range turn.Updates() {
			require.NoError(t, err)
			if i := number2(u); i >= 0 {
				c.saw(i)
			}
		}
		_, err = turn.Wait()
		require.NoError(t, err)
		assert.EqualValues(t, n, c.seen.Load())
		c.memory.Within(2*budget + slack)
	})
}
