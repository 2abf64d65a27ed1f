package flood_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// fewer returns the size of a flood in which each message causes a call.
func fewer() (n, text int) {
	n, text, _ = flood()
	return n / 10, 10*text + 500
}

// A client that calls the agent for each update must go on reading while it handles one,
// because the responses arrive after the updates that were sent before them. Nothing is
// lost, and the memory in use is bounded by the size of what the agent has sent.
func TestUpdatesWithACallForEach(t *testing.T) {
	n, text := fewer()
	pairtest.Bubble(t, func(t *testing.T) {
		c := newCounter(t, n)
		answers := 0
		p := pairtest.Connect(t, pairtest.Setup{
			Agent: updatingAgent(n, text, nil),
			Client: func(conn *client.Conn) acp.Client {
				return &peertest.FullClient{Do: func(ctx context.Context, _ string, params any) (any, error) {
					i := number(params.(*acp.SessionNotification).Update)
					var answer int
					if err := conn.Call(ctx, "_echo", i, &answer); err != nil {
						return nil, err
					}
					if answer == i {
						answers++
					}
					c.saw(i)
					return nil, nil
				}}
			},
			AgentOptions:  agent.Options{Limits: acp.Limits{SendQueue: 64 << 10}},
			ClientOptions: client.Options{Limits: acp.Limits{Backlog: 64 << 10}},
		})
		_, err := p.Client.Prompt(t.Context(), prompt("s"))
		require.NoError(t, err)
		assert.EqualValues(t, n, c.seen.Load())
		assert.Equal(t, n, answers)
		c.memory.Within(int64(n*(text+400)) + 8<<20)
	})
}

// exchange counts what one end has handled, and checks the order.
type exchange struct {
	t    *testing.T
	seen int
}

func (e *exchange) saw(raw json.RawMessage) {
	i, err := strconv.Atoi(string(raw))
	if err != nil || i != e.seen {
		e.t.Errorf("%s came where %d was expected", raw, e.seen)
	}
	e.seen++
}

// ends is either end of the connection.
type ends interface {
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// Both sides flood each other, and each answers every notification with one more and
// a call, whose handler sends another one: no deadlock, nothing lost. All queues are
// nearly always full.
func TestBothSidesFlood(t *testing.T) {
	n := 2000
	if pairtest.Race {
		n = 500
	}
	for _, proxied := range []bool{false, true} {
		name := "directly"
		if proxied {
			name = "through a proxy"
		}
		t.Run(name, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				var flooded [2]*exchange
				var echoes, calls [2]atomic.Int64
				on := func(side int, self func() ends) peertest.Do {
					flooded[side] = &exchange{t: t}
					return func(ctx context.Context, method string, params any) (any, error) {
						switch method {
						case "_flood":
							flooded[side].saw(params.(json.RawMessage))
							if err := self().Notify(ctx, "_back", params); err != nil {
								return nil, err
							}
							return nil, self().Call(ctx, "_ask", params, nil)
						case "_back":
							echoes[side].Add(1)
						case "_ask":
							calls[side].Add(1)
							return nil, self().Notify(ctx, "_back", params)
						}
						return nil, nil
					}
				}
				limits := pairtest.Setup{
					AgentOptions:  agent.Options{Limits: acp.Limits{SendQueue: 2000, Backlog: 2000, MaxHandlers: 2}},
					ClientOptions: client.Options{Limits: acp.Limits{SendQueue: 2000, Backlog: 2000, MaxHandlers: 2}},
				}
				limits.Agent = func(c *agent.Conn) acp.Agent { return &peertest.FullAgent{Do: on(0, func() ends { return c })} }
				limits.Client = func(c *client.Conn) acp.Client { return &peertest.FullClient{Do: on(1, func() ends { return c })} }
				if proxied {
					limits.Streams = pairtest.Proxied(t, limits)
				}
				p := pairtest.Connect(t, limits)
				var wg sync.WaitGroup
				for _, c := range []ends{p.Agent, p.Client} {
					wg.Go(func() {
						for i := range n {
							if !assert.NoError(t, c.Notify(t.Context(), "_flood", i)) {
								return
							}
						}
					})
				}
				wg.Wait()
				synctest.Wait()
				for side := range 2 {
					assert.Equal(t, n, flooded[side].seen)
					assert.EqualValues(t, n, calls[side].Load())
					assert.EqualValues(t, 2*n, echoes[side].Load())
				}
			})
		})
	}
}
