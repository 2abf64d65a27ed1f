package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// Every agent has sessions, and each optional interface adds its capability.
func TestCapabilities(t *testing.T) {
	for name, tt := range map[string]struct {
		agent acp.Agent
		want  string
	}{
		"baseline": {&scripted{}, `{"session":{}}`},
		"delete": {struct {
			acp.Agent
			acp.SessionDeleter
		}{}, `{"session":{"delete":{}}}`},
		"sign-in needs no capability": {struct {
			acp.Agent
			acp.Authenticator
		}{}, `{"session":{}}`},
		"nor do options": {struct {
			acp.Agent
			acp.SessionConfigOptionSetter
		}{}, `{"session":{}}`},
		"nor what is cancelled alone": {struct {
			acp.Agent
			acp.ToolCallCanceller
			acp.TerminalCanceller
		}{}, `{"session":{}}`},
		"fork": {struct {
			acp.Agent
			acp.SessionForker
		}{}, `{"session":{"fork":{}}}`},
		"archive": {struct {
			acp.Agent
			acp.SessionArchiver
		}{}, `{"session":{"archive":{}}}`},
		"status": {struct {
			acp.Agent
			acp.SessionStatusReporter
		}{}, `{"session":{"status":{}}}`},
		"title": {struct {
			acp.Agent
			acp.SessionTitleSetter
		}{}, `{"session":{"title":{}}}`},
		"servers of the client": {struct {
			acp.Agent
			acp.MCPNotificationHandler
		}{}, `{"session":{"mcp":{"acp":{}}}}`},
		"providers": {struct {
			acp.Agent
			acp.ProviderManager
		}{}, `{"session":{},"providers":{}}`},
		"state of the sign-in": {struct {
			acp.Agent
			acp.AuthStatusReporter
		}{}, `{"session":{},"auth":{"status":{}}}`},
	} {
		got, err := json.Marshal(agent.Capabilities(tt.agent))
		require.NoError(t, err)
		assert.JSONEq(t, tt.want, string(got), name)
	}
}

// boastful is an agent that advertises what it does not have.
type boastful struct{ brief }

func (*boastful) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Capabilities: &acp.AgentCapabilities{Session: &acp.SessionCapabilities{Delete: &acp.SessionDeleteCapabilities{}}}}, nil
}

// A capability without its method ends the connection, with an error that names both.
func TestCapabilityWithoutItsMethod(t *testing.T) {
	near, far := rawpeer.Pipe(t)
	served := make(chan error, 1)
	go func() { // ends with the handshake
		served <- agent.Serve(t.Context(), near, func(c *agent.Conn) acp.Agent { return &boastful{brief{conn: c}} }, nil)
	}()
	far.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
	m := far.Next()
	require.NotNil(t, m.Error)
	assert.Equal(t, -32603, m.Error.Code)
	err := <-served
	assert.ErrorContains(t, err, "session.delete")
	assert.ErrorContains(t, err, "acp.SessionDeleter")
}
