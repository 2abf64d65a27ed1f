package acp

import "context"

// ProviderManager is an optional interface of agents whose model traffic a client
// may direct. Capability: providers.
//
// Unstable: the methods may still change or go; Options must allow unstable
// methods on both ends.
type ProviderManager interface {
	// ListProviders tells which providers can be directed and where they point.
	// It never tells headers.
	//
	// Protocol: providers/list.
	ListProviders(context.Context, *ListProvidersRequest) (*ListProvidersResponse, error)

	// SetProvider replaces the whole configuration of one provider. Headers hold
	// secrets: do not log them.
	//
	// Protocol: providers/set.
	SetProvider(context.Context, *SetProviderRequest) (*SetProviderResponse, error)

	// DisableProvider switches a provider off. Fail with rpcerr.InvalidParams for
	// one that is required.
	//
	// Protocol: providers/disable.
	DisableProvider(context.Context, *DisableProviderRequest) (*DisableProviderResponse, error)
}

// SessionForker is an optional interface of agents that can branch a session.
// Capability: sessionCapabilities.fork.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type SessionForker interface {
	// ForkSession starts a session from a copy of another one's context and
	// leaves that one as it is. Fail with rpcerr.SessionNotFound for an unknown
	// id.
	//
	// Protocol: session/fork.
	ForkSession(context.Context, *ForkSessionRequest) (*ForkSessionResponse, error)
}

// SessionArchiver is an optional interface of agents that can hide sessions from
// their list. Capability: sessionCapabilities.archive, together with list.
//
// Unstable: the methods may still change or go; Options must allow unstable
// methods on both ends.
type SessionArchiver interface {
	// ArchiveSession closes a session if it is open and hides it. It succeeds for
	// one that is archived already. Fail with rpcerr.SessionNotFound for an
	// unknown id.
	//
	// Protocol: session/archive.
	ArchiveSession(context.Context, *ArchiveSessionRequest) (*ArchiveSessionResponse, error)

	// UnarchiveSession brings a session back to the list without opening it. It
	// succeeds for one that is not archived. Fail with rpcerr.SessionNotFound for
	// an unknown id.
	//
	// Protocol: session/unarchive.
	UnarchiveSession(context.Context, *UnarchiveSessionRequest) (*UnarchiveSessionResponse, error)
}

// SessionStatusReporter is an optional interface of agents that tell whether a
// session is open. Capability: sessionCapabilities.status.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type SessionStatusReporter interface {
	// SessionStatus tells whether a session is open and changes nothing. Fail with
	// rpcerr.SessionNotFound for an unknown id.
	//
	// Protocol: session/status.
	SessionStatus(context.Context, *SessionStatusRequest) (*SessionStatusResponse, error)
}

// SessionTitleSetter is an optional interface of agents whose sessions a client
// may name. Capability: sessionCapabilities.title.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type SessionTitleSetter interface {
	// SetSessionTitle names any session that can be listed and returns the title
	// as stored. Fail with rpcerr.InvalidParams for a title with nothing in it.
	//
	// Protocol: session/set_title.
	SetSessionTitle(context.Context, *SetSessionTitleRequest) (*SetSessionTitleResponse, error)
}

// AuthStatusReporter is an optional interface of agents that tell whether the user
// is signed in. Capability: auth.status.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type AuthStatusReporter interface {
	// AuthStatus tells whether the user is signed in. It should answer at once,
	// from what is known.
	//
	// Protocol: auth/status.
	AuthStatus(context.Context, *AuthStatusRequest) (*AuthStatusResponse, error)
}

// MCPNotificationHandler is an optional interface of agents that use MCP servers
// of the client over this connection. Capability: mcpCapabilities.acp.
//
// Unstable: the method may still change or go; Options must allow unstable
// methods on both ends.
type MCPNotificationHandler interface {
	// MessageMCPNotification is told what an MCP server has to say while one of
	// the agent's MCP requests is being answered. Drop it when no such request is
	// open. It is called in the order of arrival, one at a time with all other
	// notifications, and before the answer of that request; the error is logged.
	//
	// Protocol: mcp/message.
	MessageMCPNotification(context.Context, *MessageMCPNotification) error
}
