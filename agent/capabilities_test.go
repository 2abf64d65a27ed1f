package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

func TestCapabilities(t *testing.T) {
	base := &peertest.Agent{}
	for _, tt := range []struct {
		name  string
		agent acp.Agent
		want  string
	}{
		{"baseline", base, `{}`},
		{"load", &loader{}, `{"loadSession":true}`},
		{"list and close", struct {
			acp.Agent
			acp.SessionLister
			acp.SessionCloser
		}{}, `{"sessionCapabilities":{"list":{},"close":{}}}`},
		{"logout", struct {
			acp.Agent
			acp.LogoutHandler
		}{}, `{"auth":{"logout":{}}}`},
		{"no bit for these", struct {
			acp.Agent
			acp.Authenticator
			acp.SessionModeSetter
			acp.SessionConfigOptionSetter
		}{}, `{}`},
		{"every method", &peertest.FullAgent{}, `{"loadSession":true,"mcpCapabilities":{"acp":true},"providers":{},
			"auth":{"logout":{},"status":{}},
			"sessionCapabilities":{"list":{},"delete":{},"resume":{},"close":{},"fork":{},"archive":{},"status":{},"title":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(agent.Capabilities(tt.agent))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
}

func TestCapabilitiesOfAConnectionAreThoseOfItsPeer(t *testing.T) {
	s, peer := rawpeer.Pipe(t)
	c := client.New(s, func(*client.Conn) acp.Client { return &peertest.Client{} }, nil)
	assert.Nil(t, agent.Capabilities(c))
	require.NoError(t, c.Start(t.Context()))
	defer c.Close()
	go peer.Initialize(`{"loadSession":true}`)
	_, err := c.Initialize(context.Background(), nil)
	require.NoError(t, err)
	assert.Equal(t, &acp.AgentCapabilities{LoadSession: true}, agent.Capabilities(c))
}
