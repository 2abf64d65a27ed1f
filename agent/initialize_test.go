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
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// loader is an agent that can load sessions.
type loader struct{ peertest.Agent }

func (*loader) LoadSession(context.Context, *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return nil, nil
}

// answering returns an agent that answers initialize with res.
func answering(res *acp.InitializeResponse) peertest.Agent {
	return peertest.Agent{OnInitialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
		return res, nil
	}}
}

func TestInitializeFillsInWhatIsLeftOpen(t *testing.T) {
	leak.Check(t)
	for _, tt := range []struct {
		name string
		res  *acp.InitializeResponse
		want string
	}{
		{"nil response", nil, `{"loadSession":true}`},
		{"empty response", &acp.InitializeResponse{}, `{"loadSession":true}`},
		{"own capabilities", &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{}}, `{}`},
		{"echoed version", &acp.InitializeResponse{ProtocolVersion: 99, AgentCapabilities: &acp.AgentCapabilities{}}, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, peer := rawpeer.Pipe(t)
			c := agent.New(s, func(*agent.Conn) acp.Agent { return &loader{answering(tt.res)} }, nil)
			require.NoError(t, c.Start(t.Context()))
			assert.Zero(t, c.ProtocolVersion())
			assert.Nil(t, c.ClientCapabilities())
			peer.Call("0", "initialize", `{"protocolVersion":99,"clientInfo":{"name":"ed","version":"2"},"clientCapabilities":{"terminal":true}}`)
			m, ok := peer.Recv()
			require.True(t, ok)
			var got struct {
				ProtocolVersion   int             `json:"protocolVersion"`
				AgentCapabilities json.RawMessage `json:"agentCapabilities"`
			}
			require.NoError(t, json.Unmarshal(m.Result, &got))
			assert.Equal(t, 1, got.ProtocolVersion)
			assert.JSONEq(t, tt.want, string(got.AgentCapabilities))
			assert.Equal(t, 1, c.ProtocolVersion())
			assert.Equal(t, "ed", c.PeerInfo().Name)
			assert.True(t, c.ClientCapabilities().Terminal)
			require.NoError(t, c.Close())
			require.NoError(t, c.Wait())
		})
	}
}

func TestCapabilityWithoutItsMethodEndsTheConnection(t *testing.T) {
	leak.Check(t)
	s, peer := rawpeer.Pipe(t)
	a := answering(&acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{
		SessionCapabilities: &acp.SessionCapabilities{List: &acp.SessionListCapabilities{}},
	}})
	c := agent.New(s, func(*agent.Conn) acp.Agent { return &a }, nil)
	require.NoError(t, c.Start(t.Context()))
	peer.Call("1", "initialize", `{"protocolVersion":1}`)
	m, ok := peer.Recv()
	require.True(t, ok)
	require.NotNil(t, m.Error)
	assert.Equal(t, -32603, m.Error.Code)
	assert.NotContains(t, m.Error.Message, "list")
	for _, err := range []error{c.Wait(), c.Err()} {
		assert.ErrorContains(t, err, "sessionCapabilities.list")
		assert.ErrorContains(t, err, "acp.SessionLister")
		assert.ErrorContains(t, err, "*peertest.Agent")
	}
}

func TestFailedInitializeLeavesTheConnectionClosed(t *testing.T) {
	fail := true
	p := connect(t, func(*agent.Conn) acp.Agent {
		return &peertest.Agent{OnInitialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
			if fail {
				return nil, assert.AnError
			}
			return nil, nil
		}}
	}, &peertest.Client{}, nil)
	_, err := p.client.Initialize(t.Context(), nil)
	require.Error(t, err)
	assert.Zero(t, p.agent.ProtocolVersion())
	assert.Nil(t, p.agent.ClientCapabilities())
	fail = false
	_, err = p.client.Initialize(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, p.agent.ProtocolVersion())
}

func TestAgentMayCallTheClientWhileItInitializes(t *testing.T) {
	p := connect(t, func(c *agent.Conn) acp.Agent {
		return &peertest.Agent{OnInitialize: func(ctx context.Context, _ *acp.InitializeRequest) (*acp.InitializeResponse, error) {
			return nil, c.Session("s0").Message(ctx, "hello")
		}}
	}, &peertest.Client{}, nil)
	_, err := p.client.Initialize(t.Context(), nil)
	require.NoError(t, err)
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
