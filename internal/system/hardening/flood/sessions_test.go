package flood_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// Very many sessions on one connection, all of them talking at the same time: each
// keeps its order, in the client's handler, in its turns and between them.
func TestManySessions(t *testing.T) {
	const sessions, turns, updates = 1000, 2, 10
	pairtest.Bubble(t, func(t *testing.T) {
		started := 0
		var mu sync.Mutex
		last := map[acp.SessionID]int{}
		p := pairtest.Connect(t, pairtest.Setup{
			Agent: func(conn *agent.Conn) acp.Agent {
				next := map[acp.SessionID]int{}
				return &peertest.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					switch params := params.(type) {
					case *acp.NewSessionRequest:
						mu.Lock()
						defer mu.Unlock()
						started++
						return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprint("s", started))}, nil
					case *acp.PromptRequest:
						mu.Lock()
						from := next[params.SessionID]
						next[params.SessionID] += updates
						mu.Unlock()
						for i := range updates {
							if err := conn.SessionUpdate(ctx, numbered(params.SessionID, from+i, 10)); err != nil {
								return nil, err
							}
						}
					}
					return nil, nil
				}}
			},
			Client: func(*client.Conn) acp.Client {
				return &peertest.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
					u := params.(*acp.SessionNotification)
					i := number(u.Update)
					assert.Equal(t, last[u.SessionID], i) // one at a time: no lock
					last[u.SessionID] = i + 1
					return nil, nil
				}}
			},
			AgentOptions:  agent.Options{Limits: agent.Limits{SendQueue: 64 << 10}},
			ClientOptions: client.Options{Limits: client.Limits{Backlog: 64 << 10}},
		})
		var wg sync.WaitGroup
		for range sessions {
			s, err := p.Client.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
			require.NoError(t, err)
			wg.Go(func() {
				next := 0
				for range turns {
					turn := s.Prompt(t.Context(), acp.Text("go"))
					for u, err := range turn.Updates() {
						if !assert.NoError(t, err) {
							return
						}
						assert.Equal(t, next, number(u))
						next++
					}
					_, err := turn.Wait()
					assert.NoError(t, err)
				}
				assert.Equal(t, turns*updates, next)
			})
		}
		wg.Wait()
		assert.Len(t, last, sessions)
	})
}
