package acp

import "context"

// AuthStatusUpdater is an optional interface of clients that want to know when the
// agent's signed-in state changes. Capability: auth.status of the agent.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type AuthStatusUpdater interface {
	// AuthStatusUpdate is told the new state. It is called in the order of
	// arrival, one at a time with all other notifications; the error is logged.
	//
	// Protocol: auth/status_update.
	AuthStatusUpdate(context.Context, *AuthStatusUpdateNotification) error
}

// MCPMessageHandler is an optional interface of clients that serve MCP to the
// agent over this connection, by passing an [MCPServerACP] when a session starts.
// Capability: mcpCapabilities.acp of the agent.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type MCPMessageHandler interface {
	// MessageMCP answers one MCP request. Errors of MCP go into the response; a
	// Go error says that the server could not be reached. Notifications of the
	// server for this request must be sent before it returns. The ctx ends when
	// the agent cancels the request.
	//
	// Protocol: mcp/message.
	MessageMCP(context.Context, *MessageMCPRequest) (*MessageMCPResponse, error)
}
