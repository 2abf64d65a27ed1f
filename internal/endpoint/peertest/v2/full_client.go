package peertest

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// FullClient is a client with every method, extensions included. All of them call Do.
type FullClient struct{ Do peertest.Do }

// RequestPermission implements acp.Client. Its own response is the first option.
func (c *FullClient) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return peertest.Result(ctx, c.Do, acp.MethodSessionRequestPermission, p, acp.Selected(p.Options[0].OptionID))
}

// SessionUpdate implements acp.Client.
func (c *FullClient) SessionUpdate(ctx context.Context, p *acp.UpdateSessionNotification) error {
	return peertest.Note(ctx, c.Do, acp.MethodSessionUpdate, p)
}

// CreateElicitation implements acp.Elicitor. Its own response is a refusal.
func (c *FullClient) CreateElicitation(ctx context.Context, p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return peertest.Result(ctx, c.Do, acp.MethodElicitationCreate, p, &acp.CreateElicitationResponse{Action: &acp.ElicitationDeclineAction{}})
}

// CompleteElicitation implements acp.ElicitationCompleter.
func (c *FullClient) CompleteElicitation(ctx context.Context, p *acp.CompleteElicitationNotification) error {
	return peertest.Note(ctx, c.Do, acp.MethodElicitationComplete, p)
}

// AuthStatusUpdate implements acp.AuthStatusUpdater.
func (c *FullClient) AuthStatusUpdate(ctx context.Context, p *acp.AuthStatusUpdateNotification) error {
	return peertest.Note(ctx, c.Do, acp.MethodAuthStatusUpdate, p)
}

// MessageMCP implements acp.MCPMessageHandler.
func (c *FullClient) MessageMCP(ctx context.Context, p *acp.MessageMCPRequest) (*acp.MessageMCPResponse, error) {
	return peertest.Result(ctx, c.Do, acp.MethodMCPMessage, p, &acp.MessageMCPResponse{Result: json.RawMessage(`{}`)})
}

// HandleExtension implements acp.ExtensionHandler. Its own response is what it was given.
func (c *FullClient) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return peertest.Extension(ctx, c.Do, method, params)
}

// HandleExtensionNotification implements acp.ExtensionNotificationHandler.
func (c *FullClient) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return peertest.Note(ctx, c.Do, method, params)
}
