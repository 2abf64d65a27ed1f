package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
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
