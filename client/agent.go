package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// The methods of the agent that neither open nor end anything. Each sends its params
// as they are; nil stands for empty params.

// Authenticate signs the user in with one of [Conn.AuthMethods] that is of the agent's
// own kind. It may take as long as a person takes; the agent may send elicitations
// meanwhile.
//
// Protocol: authenticate.
func (c *Conn) Authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	return endpoint.Call[acp.AuthenticateRequest, acp.AuthenticateResponse](ctx, &c.out, acp.MethodAuthenticate, req, nil)
}

// Logout signs the user out.
//
// Protocol: logout. Capability: auth.logout.
func (c *Conn) Logout(ctx context.Context, req *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	return endpoint.Call[acp.LogoutRequest, acp.LogoutResponse](ctx, &c.out, acp.MethodLogout, req, nil)
}

// ListSessions returns one page of the sessions the agent knows. Pass the answer's
// NextCursor as Cursor to get the next page; the last one has none.
//
// Protocol: session/list. Capability: sessionCapabilities.list.
func (c *Conn) ListSessions(ctx context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return endpoint.Call[acp.ListSessionsRequest, acp.ListSessionsResponse](ctx, &c.out, acp.MethodSessionList, req, nil)
}

// SetSessionMode changes the mode of a session, at any time.
//
// Protocol: session/set_mode.
func (c *Conn) SetSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return endpoint.Call[acp.SetSessionModeRequest, acp.SetSessionModeResponse](ctx, &c.out, acp.MethodSessionSetMode, req, nil)
}

// SetSessionConfigOption changes one option of a session, at any time. The answer
// holds all options, since one may change others.
//
// Protocol: session/set_config_option.
func (c *Conn) SetSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	return endpoint.Call[acp.SetSessionConfigOptionRequest, acp.SetSessionConfigOptionResponse](ctx, &c.out, acp.MethodSessionSetConfigOption, req, nil)
}
