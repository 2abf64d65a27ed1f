package acp

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/roles"
)

// AgentWrapper is embedded in a struct that wraps an agent. It passes every method to Agent
// and keeps the optional interfaces and the capabilities of Agent. The struct declares the
// methods that it changes:
//
//	type quiet struct{ acp.AgentWrapper }
//
//	func (q quiet) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
//		...
//		return q.AgentWrapper.Prompt(ctx, req)
//	}
//
//	newAgent := func(conn *agent.Conn) acp.Agent { return quiet{acp.AgentWrapper{Agent: inner}} }
//
// To add an optional interface that Agent does not have, or to remove one, declare Handles as
// well; see [Selective]. A wrapper of a *client.Conn is treated as a connection: it has all
// methods, its capabilities are those of the agent at the other end, and Options.Relay is
// implied. For code that all methods share, a [Middleware] is shorter.
type AgentWrapper struct{ Agent }

// Unwrap returns the wrapped agent.
func (w AgentWrapper) Unwrap() Agent { return w.Agent }

// HandleExtension implements [ExtensionHandler], if the wrapped agent does.
func (w AgentWrapper) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return roles.Extension(w.Agent, ctx, method, params)
}

// HandleExtensionNotification implements [ExtensionNotificationHandler], if the wrapped agent does.
func (w AgentWrapper) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return roles.ExtensionNotification(w.Agent, ctx, method, params)
}

// ClientWrapper is embedded in a struct that wraps a client. It does for a [Client] what
// [AgentWrapper] does for an agent.
type ClientWrapper struct{ Client }

// Unwrap returns the wrapped client.
func (w ClientWrapper) Unwrap() Client { return w.Client }

// HandleExtension implements [ExtensionHandler], if the wrapped client does.
func (w ClientWrapper) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return roles.Extension(w.Client, ctx, method, params)
}

// HandleExtensionNotification implements [ExtensionNotificationHandler], if the wrapped client does.
func (w ClientWrapper) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return roles.ExtensionNotification(w.Client, ctx, method, params)
}
