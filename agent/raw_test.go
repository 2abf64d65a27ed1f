package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

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
					params, known = agent.RawParams(ctx)
					ask := &acp.RequestPermissionRequest{
						SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "c"},
						Options: []acp.PermissionOption{{OptionID: "o", Name: "n", Kind: acp.PermissionOptionKindAllowOnce}},
					}
					if _, err := c.RequestPermission(agent.WithRawResult(ctx, &raw), ask); err != nil {
						return nil, err
					}
					failed = json.RawMessage(`1`)
					_, err := c.ReadTextFile(agent.WithRawResult(ctx, &failed), &acp.ReadTextFileRequest{SessionID: "s1", Path: "/a"})
					assert.Error(t, err, "the client cannot read files")
					return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
				}}
			}
			in, toAgent := io.Pipe()
			fromAgent, out := io.Pipe()
			served := make(chan error, 1)
			go func() { // ends with its input
				served <- agent.Serve(t.Context(), stream.Lines(in, out, nil), newAgent, &agent.Options{RawParams: on, IgnoreCapabilities: true})
			}()
			lines := bufio.NewScanner(fromAgent)
			exchange := func(say string) string {
				_, err := io.WriteString(toAgent, say+"\n")
				require.NoError(t, err)
				require.True(t, lines.Scan())
				return lines.Text()
			}
			exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
			assert.Contains(t, exchange(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":`+prompt+`}`), "session/request_permission")
			assert.Contains(t, exchange(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), "fs/read_text_file")
			assert.Contains(t, exchange(`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`), "end_turn")
			require.NoError(t, toAgent.Close())
			require.NoError(t, <-served)

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
	_, ok := agent.RawParams(t.Context())
	assert.False(t, ok)
}
