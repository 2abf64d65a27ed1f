package acp

import "context"

// Authenticator is an optional interface of agents that sign users in.
type Authenticator interface {
	// Authenticate signs the user in by one of the methods that Initialize
	// listed, and returns when that is done. It may ask the user for input
	// meanwhile, with a request scope. Clients repeat the call that failed with
	// rpcerr.AuthRequired afterwards. Methods of the terminal kind never get here.
	//
	// Protocol: authenticate.
	Authenticate(context.Context, *AuthenticateRequest) (*AuthenticateResponse, error)
}

// LogoutHandler is an optional interface of agents that sign users out.
// Capability: auth.logout.
type LogoutHandler interface {
	// Logout ends the signed-in state. Open sessions may fail with
	// rpcerr.AuthRequired afterwards.
	//
	// Protocol: logout.
	Logout(context.Context, *LogoutRequest) (*LogoutResponse, error)
}

// SessionLoader is an optional interface of agents that store sessions and can
// replay them. Capability: loadSession.
type SessionLoader interface {
	// LoadSession opens a stored session. It sends the whole conversation as
	// updates and returns only then; being sent before it returns, they arrive
	// before the response. Fail with rpcerr.SessionNotFound for an unknown id.
	//
	// Protocol: session/load.
	LoadSession(context.Context, *LoadSessionRequest) (*LoadSessionResponse, error)
}

// SessionResumer is an optional interface of agents that store sessions and can
// go on with them without a replay. Capability: sessionCapabilities.resume.
type SessionResumer interface {
	// ResumeSession opens a stored session and sends nothing of its past. Fail
	// with rpcerr.SessionNotFound for an unknown id.
	//
	// Protocol: session/resume.
	ResumeSession(context.Context, *ResumeSessionRequest) (*ResumeSessionResponse, error)
}

// SessionLister is an optional interface of agents that can list their sessions.
// Capability: sessionCapabilities.list.
type SessionLister interface {
	// ListSessions returns one page. Fail with rpcerr.InvalidParams for a cursor
	// that it did not hand out.
	//
	// Protocol: session/list.
	ListSessions(context.Context, *ListSessionsRequest) (*ListSessionsResponse, error)
}

// SessionDeleter is an optional interface of agents whose sessions can be removed
// from the list. Capability: sessionCapabilities.delete.
type SessionDeleter interface {
	// DeleteSession removes a session from the list. It succeeds when there is
	// none with that id.
	//
	// Protocol: session/delete.
	DeleteSession(context.Context, *DeleteSessionRequest) (*DeleteSessionResponse, error)
}

// SessionCloser is an optional interface of agents that free a session on demand.
// Capability: sessionCapabilities.close.
type SessionCloser interface {
	// CloseSession frees what a session holds and keeps its history. The ctx of
	// its running turn has ended, with the cause [ErrTurnCancelled], when it is
	// called. It should succeed for a session that does not exist.
	//
	// Protocol: session/close.
	CloseSession(context.Context, *CloseSessionRequest) (*CloseSessionResponse, error)
}

// SessionModeSetter is an optional interface of agents whose sessions have modes.
// There is no capability: clients call it when the session's start returned modes.
type SessionModeSetter interface {
	// SetSessionMode switches the mode, also while a turn runs. Fail with
	// rpcerr.InvalidParams for an unknown mode. An agent that has a config option
	// for the same thing keeps both in step.
	//
	// Protocol: session/set_mode.
	SetSessionMode(context.Context, *SetSessionModeRequest) (*SetSessionModeResponse, error)
}

// SessionConfigOptionSetter is an optional interface of agents whose sessions have
// config options. There is no capability: clients call it when the session's start
// returned options.
type SessionConfigOptionSetter interface {
	// SetSessionConfigOption sets one option, also while a turn runs, and returns
	// all of them. Fail with rpcerr.InvalidParams for an unknown option or value.
	//
	// Protocol: session/set_config_option.
	SetSessionConfigOption(context.Context, *SetSessionConfigOptionRequest) (*SetSessionConfigOptionResponse, error)
}
