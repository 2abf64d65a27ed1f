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
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// sendMethods has a call for each way on which a message leaves.
func sendMethods(p *pairtest.Pair) map[string]func(ctx context.Context, m acp.Meta) error {
	return map[string]func(ctx context.Context, m acp.Meta) error{
		"Prompt": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("go")}, Meta: m}))
		},
		"Turn": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Client.Session("s").Prompt(ctx, &acp.TextContent{Text: "go", Meta: m}).Wait())
		},
		"CloseSession": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Client.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s", Meta: m}))
		},
		"Cancel": func(ctx context.Context, m acp.Meta) error {
			return p.Client.Cancel(ctx, &acp.CancelNotification{SessionID: "s", Meta: m})
		},
		"Call":   func(ctx context.Context, m acp.Meta) error { return p.Client.Call(ctx, "_x", m, nil) },
		"Notify": func(ctx context.Context, m acp.Meta) error { return p.Client.Notify(ctx, "_x", m) },
		"SessionUpdate": func(ctx context.Context, m acp.Meta) error {
			return p.Agent.SessionUpdate(ctx, &acp.SessionNotification{SessionID: "s", Update: acp.AgentText("x"), Meta: m})
		},
		"StartTerminal": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Agent.StartTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "ls", Meta: m}))
		},
	}
}

// sendMethods2 is sendMethods in version 2.
func sendMethods2(p *pairtest2.Pair) map[string]func(ctx context.Context, m acp.Meta) error {
	return map[string]func(ctx context.Context, m acp.Meta) error{
		"Prompt": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Client.Prompt(ctx, &acp2.PromptRequest{SessionID: "s", Prompt: []acp2.ContentBlock{acp2.Text("go")}, Meta: m}))
		},
		"Turn": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Client.Session("s").Prompt(ctx, &acp2.TextContent{Text: "go", Meta: m}).Wait())
		},
		"CloseSession": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Client.CloseSession(ctx, &acp2.CloseSessionRequest{SessionID: "s", Meta: m}))
		},
		"Cancel": func(ctx context.Context, m acp.Meta) error {
			return p.Client.Cancel(ctx, &acp2.CancelSessionNotification{SessionID: "s", Meta: m})
		},
		"Call":   func(ctx context.Context, m acp.Meta) error { return p.Client.Call(ctx, "_x", m, nil) },
		"Notify": func(ctx context.Context, m acp.Meta) error { return p.Client.Notify(ctx, "_x", m) },
		"SessionUpdate": func(ctx context.Context, m acp.Meta) error {
			return p.Agent.SessionUpdate(ctx, &acp2.UpdateSessionNotification{SessionID: "s", Update: &acp2.AvailableCommandsUpdate{}, Meta: m})
		},
		"StartTerminal": func(ctx context.Context, m acp.Meta) error {
			return pairtest.Err(p.Agent.Session("s").StartTerminal(ctx, &acp2.TerminalUpdate{TerminalID: "t", Meta: m}))
		},
		"RequestPermission": func(ctx context.Context, m acp.Meta) error {
			options := []acp2.PermissionOption{{OptionID: "o", Name: "n", Kind: acp2.PermissionOptionKindAllowOnce}}
			return pairtest.Err(p.Agent.RequestPermission(ctx, &acp2.RequestPermissionRequest{SessionID: "s", Title: "t", Options: options, Meta: m}))
		},
	}
}

// sender is a pair that is connected, and its way out. Without a test it is not connected, and
// has names only.
type sender struct {
	agent, client conn
	sends         map[string]func(ctx context.Context, m acp.Meta) error
}

func newSender(t testing.TB, sending []acp.Middleware, log *pairtest.Log) *sender {
	if t == nil {
		return &sender{sends: sendMethods(nil)}
	}
	p := pairtest.Connect(t, pairtest.Setup{
		AgentOptions:  agent.Options{Sending: sending, Logger: log.Logger()},
		ClientOptions: client.Options{Sending: sending, Logger: log.Logger()},
	})
	return &sender{p.Agent, p.Client, sendMethods(p)}
}

func newSender2(t testing.TB, sending []acp.Middleware, log *pairtest.Log) *sender {
	if t == nil {
		return &sender{sends: sendMethods2(nil)}
	}
	p := pairtest2.Connect(t, pairtest2.Setup{
		Agent: func(c *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
				req, ok := params.(*acp2.PromptRequest)
				if !ok {
					return nil, nil
				}
				return c.Session("s").Accept(ctx, req, func(context.Context) (acp2.StopReason, error) { return acp2.StopReasonEndTurn, nil })
			}}
		},
		AgentOptions:  agent2.Options{Sending: sending, Logger: log.Logger()},
		ClientOptions: client2.Options{Sending: sending, Logger: log.Logger()},
	})
	return &sender{p.Agent, p.Client, sendMethods2(p)}
}

// outgoing are misdeeds of a middleware for sending, nil for an encoding method that panics.
var outgoing = map[string]func() error{
	"encoding panics":                 nil,
	"a middleware panics":             func() error { panic(secret) },
	"a middleware fails":              func() error { return errors.New(secret) },
	"a middleware ends its goroutine": func() error { runtime.Goexit(); return nil },
}

// What user code does on the way out, in an encoding method or in a middleware, fails
// the one call, on whichever goroutine it runs, and leaves nothing behind.
func TestMisdeedsWhileSending(t *testing.T) {
	for i, newSender := range []func(testing.TB, []acp.Middleware, *pairtest.Log) *sender{newSender, newSender2} {
		for way, misdeed := range outgoing {
			for name := range newSender(nil, nil, nil).sends {
				t.Run(fmt.Sprintf("version %d, %s, %s", i+1, name, way), func(t *testing.T) {
					pairtest.Bubble(t, func(t *testing.T) {
						var log pairtest.Log
						armed := false
						s := newSender(t, []acp.Middleware{func(next acp.Handler) acp.Handler {
							return func(ctx context.Context, method string, params any) (any, error) {
								if armed && misdeed != nil {
									return nil, misdeed()
								}
								return next(ctx, method, params)
							}
						}}, &log)
						armed = true
						meta := acp.Meta{}
						if misdeed == nil {
							meta = acp.Meta{"x": unencodable{}}
						}
						var wg sync.WaitGroup
						err := errors.New("the goroutine ended")
						wg.Go(func() { err = s.sends[name](t.Context(), meta) }) // a middleware may end it
						wg.Wait()
						require.Error(t, err)
						if strings.Contains(way, "panics") {
							assert.Contains(t, log.String(), "stack=")
						}

						armed = false
						for range 2 {
							require.NoError(t, s.sends[name](t.Context(), acp.Meta{}))
						}
						synctest.Wait() // a notification that was accepted is also written
						begun := time.Now()
						require.NoError(t, s.client.Shutdown(t.Context()))
						require.NoError(t, s.agent.Wait())
						assert.Zero(t, time.Since(begun), "no call is pending")
					})
				})
			}
		}
	}
}

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
