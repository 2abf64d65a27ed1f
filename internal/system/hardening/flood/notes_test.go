// Package flood holds tests of an agent and a client that are sent more than they
// can take: notifications, requests and whole sessions by the thousands, and peers
// that do not read. It has no code of its own.
//
// By default the tests are sized for the race detector and a small machine; the
// flags say how to make them larger:
//
//	go test ./internal/system/hardening/flood -notes 1000000
package flood_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

var notes = flag.Int("notes", 0, "how many notifications a flood has; 0: a million, or fewer under the race detector")

// flood returns how many notifications to send, how long the text in each is, and how
// much memory may be in use beside the budgets. The fewer there are the longer they
// are, so that all of them would take far more than is allowed.
func flood() (n, text int, slack int64) {
	n, volume := *notes, 120_000_000
	slack = 32 << 20
	if pairtest.Race {
		volume, slack = 30_000_000, 8<<20
	}
	if n == 0 {
		n = 1_000_000
		if pairtest.Race {
			n = 10_000
		}
	}
	return n, max(0, volume/n-150), slack
}

// numbered is an update that says which one it is.
func numbered(session acp.SessionID, i, text int) *acp.SessionNotification {
	return &acp.SessionNotification{SessionID: session, Update: acp.AgentText(strconv.Itoa(i) + " " + strings.Repeat("x", text))}
}

func number(u acp.SessionUpdate) int {
	s, _, _ := strings.Cut(acp.PlainText(u.(*acp.AgentMessageChunk).Content), " ")
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// counter checks that messages arrive in order, and measures the memory in use. It is for one
// goroutine.
type counter struct {
	t      *testing.T
	seen   atomic.Int64
	every  int
	memory *pairtest.Memory
}

func newCounter(t *testing.T, n int) *counter {
	return &counter{t: t, every: max(1, n/20), memory: pairtest.Watch(t)}
}

func (c *counter) saw(i int) {
	n := int(c.seen.Load())
	if i != n {
		c.t.Errorf("%d came where %d was expected", i, n)
	}
	c.seen.Store(int64(n + 1))
	if n%c.every == c.every-1 {
		c.memory.Look()
	}
}

// updatingAgent is an agent whose turns consist of n updates. Everything else it answers
// at once.
func updatingAgent(n, text int, sent func()) func(*agent.Conn) acp.Agent {
	return func(conn *agent.Conn) acp.Agent {
		return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
			p, ok := params.(*acp.PromptRequest)
			if !ok {
				return nil, nil
			}
			for i := range n {
				if err := conn.SessionUpdate(ctx, numbered(p.SessionID, i, text)); err != nil {
					return nil, err
				}
				if sent != nil {
					sent()
				}
			}
			return nil, nil
		}}
	}
}

func prompt(session acp.SessionID) *acp.PromptRequest {
	return &acp.PromptRequest{SessionID: session, Prompt: []acp.ContentBlock{acp.Text("go")}}
}

// The client takes a millisecond for each of very many updates, directly and through a proxy: nothing
// is lost, the order is kept, and the agent is slowed down.
func TestUpdates(t *testing.T) {
	n, text, slack := flood()
	const budget = int64(1 << 20)
	for _, proxied := range []bool{false, true} {
		t.Run(fmt.Sprint("proxied ", proxied), func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				var sent atomic.Int64
				c := newCounter(t, n)
				setup := pairtest.Setup{
					AgentOptions:  agent.Options{Limits: acp.Limits{SendQueue: budget}},
					ClientOptions: client.Options{Limits: acp.Limits{Backlog: budget}},
				}
				between := 2 * budget // of the two ends of each connection
				if proxied {
					setup.Streams = pairtest.Proxied(t, setup)
					between *= 2
				}
				setup.Agent = updatingAgent(n, text, func() { sent.Add(1) })
				setup.Client = func(*client.Conn) acp.Client {
					return &peertest.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
						time.Sleep(time.Millisecond) // a client that is slow in real time, over pipes of the system
						c.saw(number(params.(*acp.SessionNotification).Update))
						// What is between the ends: queues, pipes and budgets.
						if ahead := sent.Load() - c.seen.Load(); ahead*int64(text+150) > 2*between {
							t.Errorf("the agent is %d updates ahead", ahead)
						}
						return nil, nil
					}}
				}
				p := pairtest.Connect(t, setup)
				begun := time.Now()
				res, err := p.Client.Prompt(t.Context(), prompt("s"))
				require.NoError(t, err)
				assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
				assert.EqualValues(t, n, c.seen.Load(), "all updates were handled when the turn returns")
				assert.GreaterOrEqual(t, time.Since(begun), time.Duration(n)*time.Millisecond)
				c.memory.Within(between + slack)
			})
		})
	}
}

// In real time and over pipes of the operating system.
func TestUpdatesInRealTime(t *testing.T) {
	leak.Check(t)
	const n, text, slack, budget = 5000, 6000, 8 << 20, 1 << 20
	c := newCounter(t, n)
	p := pairtest.Connect(t, pairtest.Setup{
		Streams: osPipes(t),
		Agent:   updatingAgent(n, text, nil),
		Client: func(*client.Conn) acp.Client {
			return &peertest.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
				<-time.After(time.Millisecond)
				c.saw(number(params.(*acp.SessionNotification).Update))
				return nil, nil
			}}
		},
		AgentOptions:  agent.Options{Limits: acp.Limits{SendQueue: budget}},
		ClientOptions: client.Options{Limits: acp.Limits{Backlog: budget}},
	})
	_, err := p.Client.Prompt(t.Context(), prompt("s"))
	require.NoError(t, err)
	assert.EqualValues(t, n, c.seen.Load())
	c.memory.Within(2*budget + slack)
}

// osPipes connects over two pipes of the operating system.
func osPipes(t *testing.T) func() (stream.Stream, stream.Stream) {
	return func() (stream.Stream, stream.Stream) {
		r1, w1, err := os.Pipe()
		require.NoError(t, err)
		r2, w2, err := os.Pipe()
		require.NoError(t, err)
		return stream.Lines(r1, w2, nil), stream.Lines(r2, w1, nil)
	}
}

func TestMain(m *testing.M) { pairtest.Main(m) }

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
			AgentOptions:  agent.Options{Limits: acp.Limits{SendQueue: 64 << 10}},
			ClientOptions: client.Options{Limits: acp.Limits{Backlog: 64 << 10}},
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
