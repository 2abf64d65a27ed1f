package kit_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
)

// servers implements the MCP servers of a session. The second server is connected after the first
// turn.
type servers struct {
	all    []acp.MCPServer
	turns  atomic.Int32
	closed atomic.Bool
}

func (s *servers) Capabilities() *acp.MCPCapabilities { return &acp.MCPCapabilities{HTTP: true} }

func (s *servers) Connect(of kit.MCPSession) (kit.MCPServers, error) {
	s.all = of.Servers
	return s, nil
}

func (s *servers) Ready(context.Context) []string {
	if s.turns.Add(1) == 1 {
		return []string{"The server b cannot be started."}
	}
	return nil
}

func (s *servers) Tools() []tools.Tool {
	list := []tools.Tool{tools.Typed("mcp__a__one", "", func(context.Context, *tools.Call, struct{}) (tools.Result, error) { return tools.Text("one"), nil })}
	if s.turns.Load() > 2 {
		list = append(list, tools.Typed("mcp__a__two", "", func(context.Context, *tools.Call, struct{}) (tools.Result, error) { return tools.Text("two"), nil }))
	}
	return list
}

func (s *servers) Close() error {
	s.closed.Store(true)
	return nil
}

func TestMCP(t *testing.T) {
	m := &servers{}
	var names []int
	u := connect(t, kit.New(&kit.Options{MCP: m, Turn: func(_ context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		names = append(names, len(s.Tools()))
		return "", nil
	}}))
	assert.Equal(t, &acp.MCPCapabilities{HTTP: true}, u.AgentCapabilities().MCPCapabilities)
	dir := t.TempDir()
	res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir, MCPServers: []acp.MCPServer{
		&acp.MCPServerHTTP{Name: "a", URL: "http://localhost/"}, &acp.MCPServerStdio{Name: "b", Command: "/b"},
	}})
	require.NoError(t, err)
	assert.Len(t, m.all, 2)
	u.ask(res.SessionID, "one")
	u.ask(res.SessionID, "two")
	assert.Equal(t, []int{1, 2}, names, "tools that have come are those of the next turn")
	assert.Contains(t, story(u.Take()), "message: The server b cannot be started.\n\n")
	_, err = u.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: res.SessionID})
	require.NoError(t, err)
	assert.True(t, m.closed.Load())
}
