package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// The unstable methods of the agent. Without Options.Unstable they return an error
// and send nothing.

// ListProviders returns the endpoints for model traffic that can be configured.
//
// Unstable: see Options.Unstable. Protocol: providers/list. Capability: providers.
func (c *Conn) ListProviders(ctx context.Context, req *acp.ListProvidersRequest) (*acp.ListProvidersResponse, error) {
	return endpoint.Call[acp.ListProvidersRequest, acp.ListProvidersResponse](ctx, &c.out, acp.MethodProvidersList, req, nil)
}

// SetProvider replaces the configuration of one endpoint. Its headers may hold
// secrets; they are never logged.
//
// Unstable: see Options.Unstable. Protocol: providers/set. Capability: providers.
func (c *Conn) SetProvider(ctx context.Context, req *acp.SetProviderRequest) (*acp.SetProviderResponse, error) {
	return endpoint.Call[acp.SetProviderRequest, acp.SetProviderResponse](ctx, &c.out, acp.MethodProvidersSet, req, nil)
}

// DisableProvider turns one endpoint off.
//
// Unstable: see Options.Unstable. Protocol: providers/disable. Capability: providers.
func (c *Conn) DisableProvider(ctx context.Context, req *acp.DisableProviderRequest) (*acp.DisableProviderResponse, error) {
	return endpoint.Call[acp.DisableProviderRequest, acp.DisableProviderResponse](ctx, &c.out, acp.MethodProvidersDisable, req, nil)
}

// ArchiveSession closes a session if it is open and hides it from the list.
//
// Unstable: see Options.Unstable. Protocol: session/archive. Capability: sessionCapabilities.archive.
func (c *Conn) ArchiveSession(ctx context.Context, req *acp.ArchiveSessionRequest) (*acp.ArchiveSessionResponse, error) {
	return endpoint.Call[acp.ArchiveSessionRequest, acp.ArchiveSessionResponse](ctx, &c.out, acp.MethodSessionArchive, req, nil)
}

// UnarchiveSession shows an archived session in the list again. It does not load it.
//
// Unstable: see Options.Unstable. Protocol: session/unarchive. Capability: sessionCapabilities.archive.
func (c *Conn) UnarchiveSession(ctx context.Context, req *acp.UnarchiveSessionRequest) (*acp.UnarchiveSessionResponse, error) {
	return endpoint.Call[acp.UnarchiveSessionRequest, acp.UnarchiveSessionResponse](ctx, &c.out, acp.MethodSessionUnarchive, req, nil)
}

// SessionStatus tells whether a session is open or only saved.
//
// Unstable: see Options.Unstable. Protocol: session/status. Capability: sessionCapabilities.status.
func (c *Conn) SessionStatus(ctx context.Context, req *acp.SessionStatusRequest) (*acp.SessionStatusResponse, error) {
	return endpoint.Call[acp.SessionStatusRequest, acp.SessionStatusResponse](ctx, &c.out, acp.MethodSessionStatus, req, nil)
}

// SetSessionTitle renames a session and returns the title the agent made of it.
//
// Unstable: see Options.Unstable. Protocol: session/set_title. Capability: sessionCapabilities.title.
func (c *Conn) SetSessionTitle(ctx context.Context, req *acp.SetSessionTitleRequest) (*acp.SetSessionTitleResponse, error) {
	return endpoint.Call[acp.SetSessionTitleRequest, acp.SetSessionTitleResponse](ctx, &c.out, acp.MethodSessionSetTitle, req, nil)
}

// AuthStatus tells whether the user is signed in.
//
// Unstable: see Options.Unstable. Protocol: auth/status. Capability: auth.status.
func (c *Conn) AuthStatus(ctx context.Context, req *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	return endpoint.Call[acp.AuthStatusRequest, acp.AuthStatusResponse](ctx, &c.out, acp.MethodAuthStatus, req, nil)
}

// ForkSession starts a session from the context of another one, which stays as it
// is.
//
// Unstable: see Options.Unstable. Protocol: session/fork. Capability:
// sessionCapabilities.fork.
func (c *Conn) ForkSession(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	res, err := c.forkSession(ctx, req)
	if err == nil {
		c.sessions.setPlain(res.SessionID)
	}
	return res, err
}

func (c *Conn) forkSession(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	return endpoint.Call[acp.ForkSessionRequest, acp.ForkSessionResponse](ctx, &c.out, acp.MethodSessionFork, req, nil)
}

// MessageMCPNotification sends a notification of an MCP server that this client
// provides, about a request of the agent that is being worked on.
//
// Unstable: see Options.Unstable. Protocol: mcp/message. Capability:
// mcpCapabilities.acp.
func (c *Conn) MessageMCPNotification(ctx context.Context, n *acp.MessageMCPNotification) error {
	return endpoint.Notify(ctx, &c.out, acp.MethodMCPMessage, n)
}
