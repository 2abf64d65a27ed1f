package agent_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The log contains no params or content, and without Options.ExposeErrors a response contains
// no text of an internal error.
func TestLogsAndResponsesKeepSecrets(t *testing.T) {
	for _, expose := range []bool{false, true} {
		var log bytes.Buffer
		var dropped []string
		c, peer := rawClient(t, func(*agent.Conn) acp.Agent {
			return &peertest.Agent{
				OnNewSession: func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
					return nil, errors.New("disk /canary-path is full")
				},
				OnPrompt: func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) { panic("canary-panic") },
			}
		}, &agent.Options{
			ExposeErrors: expose,
			Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			OnDropped:    func(method string, _ error) { dropped = append(dropped, method) },
		})
		peer.Call("1", "session/new", `{"cwd":"/","mcpServers":[{"name":"m","command":"/c","args":["canary-arg"],"env":[{"name":"K","value":"canary-env"}]}]}`)
		failed, _ := peer.Recv()
		peer.Call("2", "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"canary-text"}]}`)
		panicked, _ := peer.Recv()
		peer.Notify("session/cancel", `{"sessionId":{"canary-id":1}}`)
		peer.Call("3", "session/new", `{"cwd":"canary-cwd","mcpServers":[]}`)
		refused, _ := peer.Recv()
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())

		assert.Equal(t, -32603, failed.Error.Code)
		answer := failed.Error.Message + string(failed.Error.Data)
		if expose {
			assert.Contains(t, answer, "canary-path")
		} else {
			assert.Equal(t, "Internal error", failed.Error.Message)
			assert.NotContains(t, answer, "canary-path")
		}
		assert.Equal(t, -32603, panicked.Error.Code)
		assert.NotContains(t, string(panicked.Error.Data), "goroutine", "no stack on the wire")
		assert.Equal(t, -32602, refused.Error.Code)
		assert.Contains(t, string(refused.Error.Data), "cwd")
		assert.Equal(t, []string{"session/cancel"}, dropped)
		assert.Contains(t, log.String(), "canary-path", "the log tells why")
		assert.Contains(t, log.String(), "canary-panic")
		for _, secret := range []string{"canary-arg", "canary-env", "canary-text", "canary-id", "canary-cwd"} {
			assert.NotContains(t, log.String(), secret)
		}
	}
}

// The error of a failed tool call that is not sent to the client is in the log.
func TestFailedToolCallsAreLogged(t *testing.T) {
	var log bytes.Buffer
	c, peer := rawClient(t, func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			for id, err := range map[acp.ToolCallID]error{
				"unexpected": errors.New("canary-plain"),
				"masked":     rpcerr.InternalError(nil).WithDetail("sorry").WithCause(errors.New("canary-cause")),
				"told":       rpcerr.ResourceNotFound("/a"),
				"own":        ownFailure{},
				"stopped":    context.Canceled,
				"none":       nil,
			} {
				if err := conn.Session(req.SessionID).ToolCall(id).Fail(ctx, err); err != nil {
					return nil, err
				}
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}}
	}, &agent.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	peer.Call("1", "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}`)
	for range 6 + 1 {
		m, _ := peer.Recv()
		assert.NotContains(t, string(m.Params), "canary")
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Wait())
	assert.Contains(t, log.String(), "toolCallId=unexpected error=canary-plain")
	assert.Contains(t, log.String(), "toolCallId=masked")
	assert.Contains(t, log.String(), "canary-cause")
	assert.Contains(t, log.String(), `toolCallId=stopped error="context canceled"`, "nobody has cancelled it")
	assert.Equal(t, 3, strings.Count(log.String(), "a tool call failed"), log.String())
}

type ownFailure struct{}

func (ownFailure) Error() string                       { return "exit status 2" }
func (ownFailure) FailedToolCall() *acp.ToolCallUpdate { return &acp.ToolCallUpdate{Title: "Build"} }
