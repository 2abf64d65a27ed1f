package faults_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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
	"github.com/acpkit/go-sdk/internal/hardening/pairtest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// What user code does on the way out, in an encoding method or in a middleware, fails
// the one call, on whichever goroutine it runs, and leaves nothing behind.
func TestMisdeedsWhileSending(t *testing.T) {
	bad := acp.Meta{"x": unencodable{}}
	calls := map[string]func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error{
		"Prompt": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error {
			_, err := p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("go")}, Meta: m})
			return err
		},
		"Turn": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error {
			_, err := p.Client.Session("s").Prompt(ctx, &acp.TextContent{Text: "go", Meta: m}).Wait()
			return err
		},
		"CloseSession": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error {
			_, err := p.Client.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s", Meta: m})
			return err
		},
		"Cancel": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error {
			return p.Client.Cancel(ctx, &acp.CancelNotification{SessionID: "s", Meta: m})
		},
		"Call":   func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error { return p.Client.Call(ctx, "_x", m, nil) },
		"Notify": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error { return p.Client.Notify(ctx, "_x", m) },
		"SessionUpdate": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error {
			return p.Agent.SessionUpdate(ctx, &acp.SessionNotification{SessionID: "s", Update: acp.AgentText("x"), Meta: m})
		},
		"StartTerminal": func(ctx context.Context, p *pairtest.Pair, m acp.Meta) error {
			_, err := p.Agent.StartTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "ls", Meta: m})
			return err
		},
	}
	middlewares := map[string]func() error{
		"encoding panics":                 nil,
		"a middleware panics":             func() error { panic(secret) },
		"a middleware fails":              func() error { return errors.New(secret) },
		"a middleware ends its goroutine": func() error { runtime.Goexit(); return nil },
	}
	for way, misdeed := range middlewares {
		for name, call := range calls {
			t.Run(fmt.Sprint(name, ", ", way), func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) {
					var log pairtest.Log
					armed := false
					sending := []acp.Middleware{func(next acp.Handler) acp.Handler {
						return func(ctx context.Context, method string, params any) (any, error) {
							if armed && misdeed != nil {
								return nil, misdeed()
							}
							return next(ctx, method, params)
						}
					}}
					p := pairtest.Connect(t, pairtest.Setup{
						AgentOptions:  agent.Options{Sending: sending, Logger: log.Logger()},
						ClientOptions: client.Options{Sending: sending, Logger: log.Logger()},
					})
					armed = true
					meta := acp.Meta{}
					if misdeed == nil {
						meta = bad
					}
					var wg sync.WaitGroup
					err := errors.New("the goroutine ended")
					wg.Go(func() { err = call(t.Context(), p, meta) }) // a middleware may end it
					wg.Wait()
					require.Error(t, err)
					if strings.Contains(way, "panics") {
						assert.Contains(t, log.String(), "stack=")
					}

					armed = false
					for range 2 {
						require.NoError(t, call(t.Context(), p, acp.Meta{}))
					}
					synctest.Wait() // a notification that was accepted is also written
					begun := time.Now()
					require.NoError(t, p.Client.Shutdown(t.Context()))
					require.NoError(t, p.Agent.Wait())
					assert.Zero(t, time.Since(begun), "no call is pending")
				})
			})
		}
	}
}

// Panics in what the helpers call are logged, and everything goes on.
func TestPanicsInCallbacks(t *testing.T) {
	pairtest.Bubble(t, func(t *testing.T) {
		var log pairtest.Log
		p := pairtest.Connect(t, pairtest.Setup{
			Agent: func(c *agent.Conn) acp.Agent {
				return &peertest.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					if p, ok := params.(*acp.PromptRequest); ok {
						agent.AfterResponse(ctx, func(context.Context) { panic("in AfterResponse") })
						return nil, c.Session(p.SessionID).Message(ctx, "x")
					}
					return nil, nil
				}}
			},
			AgentOptions:  agent.Options{Logger: log.Logger()},
			ClientOptions: client.Options{Logger: log.Logger()},
		})
		p.Client.Session("s").OnUpdate(func(context.Context, acp.SessionUpdate) { panic("in OnUpdate") })
		for range 3 {
			_, err := p.Client.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("go")}})
			require.NoError(t, err)
		}
		func() {
			defer func() { assert.Equal(t, "in the loop", recover()) }()
			for range p.Client.Session("t").Prompt(t.Context(), acp.Text("go")).Updates() {
				panic("in the loop")
			}
		}()
		for _, where := range []string{"in AfterResponse", "in OnUpdate"} {
			assert.Contains(t, log.String(), where)
		}
		require.NoError(t, p.Client.Shutdown(t.Context()))
	})
	pairtest.Bubble(t, func(t *testing.T) {
		var log pairtest.Log
		s, peer := rawpeer.Pipe(t)
		pairtest.StartClient(t, s, pairtest.Setup{ClientOptions: client.Options{Logger: log.Logger(), OnDropped: func(string, error) { panic("in OnDropped") }}})
		peer.Notify("session/update", "5")
		peer.Call("1", "_extension", "[1]")
		answer, ok := peer.Recv()
		require.True(t, ok)
		assert.JSONEq(t, "[1]", string(answer.Result))
		assert.Contains(t, log.String(), "in OnDropped")
	})
}
