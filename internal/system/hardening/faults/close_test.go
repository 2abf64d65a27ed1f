package faults_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// conn is either end.
type conn interface {
	Close() error
	Wait() error
	Shutdown(context.Context) error
	Err() error
}

// Close works inside the handler of every method of both roles: it does not wait for
// the handler that calls it, and everything ends.
func TestCloseInsideHandlers(t *testing.T) {
	ways := map[string]func(ctx context.Context, c conn) error{
		"Close": func(_ context.Context, c conn) error { return c.Close() },
		"Close by many": func(_ context.Context, c conn) error {
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { _ = c.Close() })
			}
			wg.Wait()
			return c.Close()
		},
		"Shutdown": func(ctx context.Context, c conn) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return c.Shutdown(ctx) // it cannot wait for itself
		},
	}
	for name, end := range ways {
		for _, v := range protocols {
			for _, side := range []wire.Side{wire.Agent, wire.Client} {
				names := v.requests(t, side)
				for method := range v.notes[side] {
					names = append(names, method+"!")
				}
				for _, method := range names {
					t.Run(fmt.Sprintf("%s %s of version %d", name, method, v.version), func(t *testing.T) {
						pairtest.Bubble(t, func(t *testing.T) {
							var c conn
							var peer *rawpeer.Peer
							armed, called := false, false
							c, peer = v.start(t, side, func(ctx context.Context, _ string, _ any) (any, error) {
								if armed && !called {
									called = true
									return nil, end(ctx, c)
								}
								return nil, nil
							}, endOptions{})
							armed = true
							if note, ok := strings.CutSuffix(method, "!"); ok {
								peer.Notify(note, v.notes[side][note])
							} else {
								peer.Call("1", method, v.params[method])
							}
							require.NoError(t, c.Wait())
							assert.True(t, called)
							require.ErrorIs(t, c.Err(), acp.ErrClosed)
						})
					})
				}
			}
		}
	}
}

// Close works inside every callback of the helpers of both sides.
func TestCloseInsideCallbacks(t *testing.T) {
	update := `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}`
	for name, test := range map[string]func(t *testing.T, s stream.Stream, peer *rawpeer.Peer) conn{
		"OnUpdate": func(t *testing.T, s stream.Stream, peer *rawpeer.Peer) conn {
			c := pairtest.StartClient(t, s, pairtest.Setup{})
			c.Session("s").OnUpdate(func(context.Context, acp.SessionUpdate) { assert.NoError(t, c.Close()) })
			peer.Notify("session/update", update)
			return c
		},
		"OnDropped": func(t *testing.T, s stream.Stream, peer *rawpeer.Peer) conn {
			var c *client.Conn
			c = pairtest.StartClient(t, s, pairtest.Setup{ClientOptions: client.Options{OnDropped: func(string, error) { assert.NoError(t, c.Close()) }}})
			peer.Notify("session/update", `5`)
			return c
		},
		"Updates": func(t *testing.T, s stream.Stream, peer *rawpeer.Peer) conn {
			c := pairtest.StartClient(t, s, pairtest.Setup{})
			turn := c.Session("s").Prompt(t.Context(), acp.Text("go"))
			peer.Expect("session/prompt")
			peer.Notify("session/update", update)
			n := 0
			for _, err := range turn.Updates() {
				if n++; n == 1 {
					assert.NoError(t, c.Close())
				} else {
					require.ErrorIs(t, err, acp.ErrClosed)
				}
			}
			assert.Equal(t, 2, n)
			return c
		},
		"AfterResponse": func(t *testing.T, s stream.Stream, peer *rawpeer.Peer) conn {
			c := pairtest.StartAgent(t, s, pairtest.Setup{Agent: func(c *agent.Conn) acp.Agent {
				return &peertest.FullAgent{Do: func(ctx context.Context, _ string, _ any) (any, error) {
					agent.AfterResponse(ctx, func(context.Context) { assert.NoError(t, c.Close()) })
					return nil, nil
				}}
			}})
			peer.Call("0", "initialize", peertest.Params["initialize"])
			m, ok := peer.Recv()
			require.True(t, ok, "the answer was queued before")
			assert.Nil(t, m.Error)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				s, peer := rawpeer.Pipe(t)
				c := test(t, s, peer)
				require.NoError(t, c.Wait())
				require.ErrorIs(t, c.Err(), acp.ErrClosed)
			})
		})
	}
}

// Many goroutines close both ends at the same time, at varying points of a conversation.
func TestCloseByMany(t *testing.T) {
	eachVersion(t, func(t *testing.T, v *protocol) {
		for after := range 60 {
			pairtest.Bubble(t, func(t *testing.T) { closeByMany(t, v, time.Duration(after)*time.Millisecond) })
		}
	})
}

func closeByMany(t *testing.T, v *protocol, after time.Duration) {
	agentSide, clientSide := &course{}, &course{}
	forAgent, forClient := stream.Pipe()
	a, c, talk := v.converse(t, &slowed{forAgent}, &slowed{forClient}, agentSide, clientSide)
	talked := make(chan error, 1)
	go func() { talked <- talk() }() // ends with the connection
	time.Sleep(after)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if i%2 == 0 {
				assert.NoError(t, a.Close())
			} else {
				assert.NoError(t, c.Close())
			}
		})
	}
	wg.Wait()
	require.ErrorIs(t, <-talked, acp.ErrClosed)
	for _, err := range []error{a.Wait(), c.Wait()} {
		if err != nil { // the other one was quicker, and it was writing
			require.ErrorIs(t, err, acp.ErrClosed)
		}
	}
	for _, how := range []*course{agentSide, clientSide} {
		for i, err := range how.calls {
			if i == len(how.calls)-1 && err != nil {
				require.ErrorIs(t, err, acp.ErrClosed)
				continue
			}
			require.NoError(t, err)
		}
	}
}

// slowed is a stream that takes a millisecond for each message.
type slowed struct{ stream.Stream }

func (s *slowed) Write(b []byte) error {
	time.Sleep(time.Millisecond)
	return s.Stream.Write(b)
}

// Prompts overlap on one session, which is then cancelled: those that were read before the cancel
// end, also one that waits for the client, and a later one goes on.
func TestOverlappingPrompts(t *testing.T) {
	pairtest.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var events []string
		event := func(s string) { mu.Lock(); defer mu.Unlock(); events = append(events, s) }
		p := pairtest.Connect(t, pairtest.Setup{
			Agent: func(c *agent.Conn) acp.Agent {
				return &peertest.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					switch params := params.(type) {
					case *acp.PromptRequest:
						text := acp.PlainText(params.Prompt...)
						event(text)
						if text == "asks" {
							_, err := c.Session("s").AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "c"})
							return nil, err
						}
						<-ctx.Done()
						assert.Equal(t, acp.ErrTurnCancelled, context.Cause(ctx))
						return nil, fmt.Errorf("oops: %w", ctx.Err())
					case *acp.CancelNotification:
						event("cancel")
					}
					return nil, nil
				}}
			},
			Client: func(*client.Conn) acp.Client {
				return &peertest.FullClient{Do: func(ctx context.Context, _ string, _ any) (any, error) { <-ctx.Done(); return nil, ctx.Err() }}
			},
		})
		ended := make(chan string, 4)
		prompt := func(text string) {
			go func() { // ends with the turn
				res, err := p.Client.Prompt(context.Background(), &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text(text)}})
				if assert.NoError(t, err) {
					ended <- text + " " + string(res.StopReason)
				}
			}()
			synctest.Wait()
		}
		prompt("first")
		prompt("second")
		prompt("asks")
		require.NoError(t, p.Client.Cancel(t.Context(), &acp.CancelNotification{SessionID: "s"}))
		prompt("later")
		assert.ElementsMatch(t, []string{"first cancelled", "second cancelled", "asks cancelled"}, []string{<-ended, <-ended, <-ended})
		synctest.Wait()
		assert.Empty(t, ended)
		require.NoError(t, p.Client.Cancel(t.Context(), &acp.CancelNotification{SessionID: "s"}))
		assert.Equal(t, "later cancelled", <-ended)
		synctest.Wait()
		assert.Equal(t, []string{"first", "second", "asks", "cancel", "later", "cancel"}, events)
	})
}
