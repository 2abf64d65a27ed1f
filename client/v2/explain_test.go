package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// guarded is an agent that requires its user to sign in.
type guarded struct {
	librarian
	methods []acp.AuthMethod
}

func (g guarded) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "guarded", Version: "1"}, AuthMethods: g.methods}, nil
}

func (guarded) Login(context.Context, *acp.LoginAuthRequest) (*acp.LoginAuthResponse, error) {
	return nil, nil
}

func (guarded) Logout(context.Context, *acp.LogoutAuthRequest) (*acp.LogoutAuthResponse, error) {
	return nil, nil
}

// Explain shows the methods to sign in that the agent advertises, without control characters,
// because the text is printed on the user's terminal.
func TestExplainShowsMethods(t *testing.T) {
	near, far := stream.Pipe()
	go agent.Serve(t.Context(), far, func(*agent.Conn) acp.Agent { // ends with the connection
		return guarded{methods: []acp.AuthMethod{
			&acp.AuthMethodTerminal{MethodID: "tty", Name: "Terminal", Description: "in a shell", Args: []string{"auth", "login"}},
			&acp.AuthMethodTerminal{MethodID: "bare", Name: "Bare"},
			&acp.AuthMethodAgent{MethodID: "sly\x1b[2J", Name: "A\nB", Description: "\u202eevil"},
		}}
	}, nil)
	conn, err := client.Connect(t.Context(), near, func(*client.Conn) acp.Client { return silentViewer{} }, nil)
	require.NoError(t, err)
	defer conn.Close()
	assert.Equal(t, "Authentication required (-32000)\nSign in to the agent first.\n"+
		"  tty: Terminal (in a shell); run the agent's command auth login\n"+
		"  bare: Bare; run the agent's command\n"+
		"  sly[2J: A B (evil)", client.Explain(conn, rpcerr.AuthRequired(nil)))
}
