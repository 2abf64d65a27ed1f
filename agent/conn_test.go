package agent_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/relay"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

func TestAfterResponse(t *testing.T) {
	_, peer := rawClient(t, func(c *agent.Conn) acp.Agent {
		return &peertest.Agent{OnNewSession: func(ctx context.Context, _ *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
			id, ok := agent.RequestID(ctx)
			assert.True(t, ok)
			assert.Equal(t, acp.StringID("new-1"), id)
			assert.True(t, agent.AfterResponse(ctx, func(after context.Context) {
				assert.NoError(t, after.Err())
				c.Session("s1").Message(after, "second")
			}))
			agent.AfterResponse(ctx, func(after context.Context) { c.Session("s1").Message(after, "third") })
			return &acp.NewSessionResponse{SessionID: "s1"}, c.Session("s1").Message(ctx, "first")
		}}
	}, nil)
	peer.Call(`"new-1"`, "session/new", `{"cwd":"/","mcpServers":[]}`)
	var order []string
	for range 4 {
		m, ok := peer.Recv()
		require.True(t, ok)
		if m.Method == "" {
			order = append(order, "answer")
			continue
		}
		var n acp.SessionNotification
		require.NoError(t, n.UnmarshalJSON(m.Params))
		order = append(order, acp.PlainText(n.Update.(*acp.AgentMessageChunk).Content))
	}
	assert.Equal(t, []string{"first", "answer", "second", "third"}, order)

	assert.False(t, agent.AfterResponse(t.Context(), func(context.Context) { t.Error("called") }), "outside a request")
	_, ok := agent.RequestID(t.Context())
	assert.False(t, ok)
}

// An agent can read the params and results that the schema does not define.
func TestRawParamsAndResult(t *testing.T) {
	const prompt = `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}],"extra":[1, 2]}`
	const result = `{"outcome":{"outcome":"selected","optionId":"o"},"why":"asked"}`
	for name, on := range map[string]bool{"with the option": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			var params, failed json.RawMessage
			var known bool
			raw := json.RawMessage(`1`)
			newAgent := func(c *agent.Conn) acp.Agent {
				return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
					params, known = relay.RawParams(ctx)
					ask := &acp.RequestPermissionRequest{
						SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "c"},
						Options: []acp.PermissionOption{{OptionID: "o", Name: "n", Kind: acp.PermissionOptionKindAllowOnce}},
					}
					if _, err := c.RequestPermission(relay.WithRawResult(ctx, &raw), ask); err != nil {
						return nil, err
					}
					failed = json.RawMessage(`1`)
					_, err := c.ReadTextFile(relay.WithRawResult(ctx, &failed), &acp.ReadTextFileRequest{SessionID: "s1", Path: "/a"})
					assert.Error(t, err, "the client cannot read files")
					return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
				}}
			}
			conn, peer := rawClient(t, newAgent, &agent.Options{RawParams: on, IgnoreCapabilities: true})
			peer.Call("2", "session/prompt", prompt)
			assert.Equal(t, "session/request_permission", peer.Next().Method)
			peer.Send(`{"jsonrpc":"2.0","id":1,"result":%s}`, result)
			assert.Equal(t, "fs/read_text_file", peer.Next().Method)
			peer.Send(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`)
			assert.Contains(t, peer.Next().Raw, "end_turn")
			require.NoError(t, conn.Close())
			require.NoError(t, conn.Wait())

			assert.Equal(t, on, known)
			if on {
				assert.Equal(t, prompt, string(params))
			} else {
				assert.Nil(t, params)
			}
			assert.Equal(t, result, string(raw))
			assert.Nil(t, failed, "the call failed")
		})
	}
	_, ok := relay.RawParams(t.Context())
	assert.False(t, ok)
}

// The results of calls can be collected as soon as the handler drops them. So a prompt that reads
// files for hours does not fill the memory.
func TestResultsAreCollectedWhileAPromptRuns(t *testing.T) {
	const files = 8
	collected := make(chan struct{}, files)
	p := open(t, func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			for range files {
				res, err := conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: req.SessionID, Path: "/long"})
				if err != nil {
					return nil, err
				}
				runtime.AddCleanup(res, func(c chan struct{}) { c <- struct{}{} }, collected)
			}
			for deadline := time.Now().Add(10 * time.Second); len(collected) < files && time.Now().Before(deadline); {
				runtime.GC()
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}}
	}, &peertest.FullClient{Do: func(context.Context, string, any) (any, error) {
		return &acp.ReadTextFileResponse{Content: strings.Repeat("line\n", 20_000)}, nil
	}}, nil)
	_, err := p.client.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("go")}})
	require.NoError(t, err)
	assert.Len(t, collected, files)
}
