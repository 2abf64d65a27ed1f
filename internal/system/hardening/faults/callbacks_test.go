package faults_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

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
		ended := 0
		p.Client.OnSessionEnd(func(acp.SessionID) { panic("in OnSessionEnd") })
		p.Client.OnSessionEnd(func(acp.SessionID) { ended++ })
		assert.PanicsWithValue(t, "in OnSessionEnd", func() { _ = p.Client.Session("s").Close(t.Context()) }) // it runs on this goroutine
		assert.Equal(t, 1, ended, "the others are called all the same")
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
		goesOn(t, peer, "OnDropped")
		assert.Contains(t, log.String(), "in OnDropped")
	})
}

// TestPanicsInCallbacks in version 2, which calls the work on a prompt too.
func TestPanicsInCallbacksOfVersion2(t *testing.T) {
	t.Run("of a conversation", func(t *testing.T) { pairtest.Bubble(t, panicsInConversation2) })
	t.Run("OnDropped", func(t *testing.T) {
		pairtest.Bubble(t, func(t *testing.T) {
			var log pairtest.Log
			_, peer := startClient2(t, pairtest2.Setup{ClientOptions: client2.Options{Logger: log.Logger(), OnDropped: func(string, error) { panic("in OnDropped") }}})
			peer.Notify("session/update", "5")
			goesOn(t, peer, "OnDropped")
			assert.Contains(t, log.String(), "in OnDropped")
		})
	})
}

func panicsInConversation2(t *testing.T) {
	var log pairtest.Log
	p := pairtest2.Connect(t, pairtest2.Setup{
		Agent: func(c *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
				req, ok := params.(*acp2.PromptRequest)
				if !ok {
					return nil, nil
				}
				agent2.AfterResponse(ctx, func(context.Context) { panic("in AfterResponse") })
				s := c.Session(req.SessionID)
				return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
					assert.NoError(t, s.Message(ctx, "m", "x"))
					if acp2.PlainText(req.Prompt...) == "panic" {
						panic("in the work: " + secret)
					}
					return acp2.StopReasonEndTurn, nil
				})
			}}
		},
		AgentOptions:  agent2.Options{Logger: log.Logger()},
		ClientOptions: client2.Options{Logger: log.Logger()},
	})
	s := p.Client.Session("s")
	s.OnUpdate(func(context.Context, acp2.SessionUpdate) { panic("in OnUpdate") })
	require.NoError(t, p.Agent.Session("s").SetTitle(t.Context(), "outside of a turn"))
	ended := 0
	p.Client.OnSessionEnd(func(acp2.SessionID) { panic("in OnSessionEnd") })
	p.Client.OnSessionEnd(func(acp2.SessionID) { ended++ })
	p.Client.OnEnd(func() { panic("in OnEnd") })
	for _, text := range []string{"go", "panic", "go"} {
		idle, err := s.Prompt(t.Context(), acp2.Text(text)).Wait()
		require.NotNil(t, idle, "%v", err)
		if text == "go" {
			require.NoError(t, err)
			continue
		}
		assert.Equal(t, acp2.StopReasonError, idle.StopReason)
		code, _ := rpcerr.CodeOf(err)
		assert.Equal(t, rpcerr.CodeInternalError, code)
		assert.NotContains(t, err.Error(), secret)
	}
	func() {
		defer func() { assert.Equal(t, "in the loop", recover()) }()
		for range p.Client.Session("t").Prompt(t.Context(), acp2.Text("go")).Updates() {
			panic("in the loop")
		}
	}()
	assert.PanicsWithValue(t, "in OnSessionEnd", func() { _ = s.Close(t.Context()) }) // it runs on this goroutine
	assert.Equal(t, 1, ended, "the others are called all the same")
	require.NoError(t, p.Client.Shutdown(t.Context()))
	require.NoError(t, p.Client.Wait())
	synctest.Wait()
	for _, where := range []string{"in AfterResponse", "in OnUpdate", "in the work", "in OnEnd"} {
		assert.Contains(t, log.String(), where)
	}
}
