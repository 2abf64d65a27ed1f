package order_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// An update makes the client call; the agent calls back for its answer; for that the
// client calls again; and before the last answer the agent sends another update. Each
// waits for the next one, none of them can be put off, and yet the second update is
// handled behind the first.
func TestChainOverBothSides(t *testing.T) {
	for _, proxies := range []int{0, 1, 2} {
		t.Run(fmt.Sprint(proxies, " proxies"), func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				var mu sync.Mutex
				var events []string
				event := func(s string) { mu.Lock(); defer mu.Unlock(); events = append(events, s) }
				s := pairtest.Setup{
					Agent: func(c *agent.Conn) acp.Agent {
						update := func(ctx context.Context, text string) error { return c.Session("s").Message(ctx, text) }
						return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
							switch method {
							case acp.MethodSessionPrompt:
								return nil, update(ctx, "first")
							case "_call": // from the handler of the first update
								event("call")
								return nil, c.Call(ctx, "_callback", nil, nil)
							case "_again": // from the handler of the call back
								event("again")
								return nil, update(ctx, "second")
							}
							return nil, nil
						}}
					},
					Client: func(c *client.Conn) acp.Client {
						return &peertest.FullClient{Do: func(ctx context.Context, method string, params any) (any, error) {
							switch p := params.(type) {
							case *acp.SessionNotification:
								text := acp.PlainText(p.Update.(*acp.AgentMessageChunk).Content)
								event(text)
								if text == "first" {
									err := c.Call(ctx, "_call", nil, nil)
									event("first is done")
									return nil, err
								}
							case json.RawMessage:
								event("call back")
								return nil, c.Call(ctx, "_again", nil, nil)
							}
							return nil, nil
						}}
					},
				}
				s.Streams = func() (stream.Stream, stream.Stream) {
					forAgent, rest := stream.Pipe()
					for range proxies {
						rest = pairtest.Proxy(t, rest, pairtest.Setup{})
					}
					return forAgent, rest
				}
				p := pairtest.Connect(t, s)
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("go")}})
				require.NoError(t, err)
				synctest.Wait()
				assert.Zero(t, time.Since(begun))
				assert.Equal(t, []string{"first", "call", "call back", "again", "first is done", "second"}, events)
			})
		})
	}
}
