package faults_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
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
		peer.Call("1", "_extension", "[1]")
		answer, ok := peer.Recv()
		require.True(t, ok)
		assert.JSONEq(t, "[1]", string(answer.Result))
		assert.Contains(t, log.String(), "in OnDropped")
	})
}
