package main

// v2Methods are the methods of version 2, in the order of the protocol.
var v2Methods = []methodRow{
	{key: "initialize", name: "Initialize", role: "Agent", callHook: true, handleHook: true},
	{key: "session/new", name: "NewSession", role: "Agent", capability: "session", bits: none, strict: true, callHook: true},
	{key: "session/list", name: "ListSessions", role: "Agent", capability: "session", bits: none},
	{key: "session/resume", name: "ResumeSession", role: "Agent", capability: "session", bits: none,
		strict: true, waits: true, streams: true, callHook: true},
	{key: "session/close", name: "CloseSession", role: "Agent", capability: "session", bits: none, endsTurn: true, callHook: true},
	{key: "session/prompt", name: "Prompt", role: "Agent", capability: "session", bits: none,
		waits: true, streams: true, turn: true, callHook: true, handleHook: true},
	{key: "session/cancel!", name: "Cancel", role: "Agent", capability: "session", bits: none, endsTurn: true, callHook: true},
	{key: "session/set_config_option", name: "SetSessionConfigOption", role: "SessionConfigOptionSetter", callHook: true},
	{key: "session/delete", name: "DeleteSession", role: "SessionDeleter", capability: "session.delete", callHook: true},
	{key: "tool_call/cancel", name: "CancelToolCall", role: "ToolCallCanceller"},
	{key: "terminal/cancel", name: "CancelTerminal", role: "TerminalCanceller"},
	{key: "auth/login", name: "Login", role: "Authenticator"},
	{key: "auth/logout", name: "Logout", role: "Authenticator"},
	{key: "providers/list", name: "ListProviders", role: "ProviderManager", capability: "providers"},
	{key: "providers/set", name: "SetProvider", role: "ProviderManager", capability: "providers"},
	{key: "providers/disable", name: "DisableProvider", role: "ProviderManager", capability: "providers"},
	{key: "session/fork", name: "ForkSession", role: "SessionForker", capability: "session.fork", strict: true, callHook: true},
	{key: "session/archive", name: "ArchiveSession", role: "SessionArchiver", capability: "session.archive"},
	{key: "session/unarchive", name: "UnarchiveSession", role: "SessionArchiver", capability: "session.archive"},
	{key: "session/status", name: "SessionStatus", role: "SessionStatusReporter", capability: "session.status"},
	{key: "session/set_title", name: "SetSessionTitle", role: "SessionTitleSetter", capability: "session.title"},
	{key: "auth/status", name: "AuthStatus", role: "AuthStatusReporter", capability: "auth.status"},
	// An agent that uses MCP servers of the client need not hear what they say meanwhile.
	{key: "mcp/message!", name: "MessageMCPNotification", role: "MCPNotificationHandler", capability: "session.mcp.acp", bits: none},

	{key: "session/request_permission", name: "RequestPermission", role: "Client", waits: true, handleHook: true},
	{key: "session/update!", name: "SessionUpdate", role: "Client", handleHook: true},
	// The modes of a question have a capability each. Who can ask is taken to show forms.
	{key: "elicitation/create", name: "CreateElicitation", role: "Elicitor", capability: "elicitation",
		bits: []string{"elicitation.form", "elicitation.url"}, implied: "elicitation.form", waits: true, handleHook: true},
	{key: "elicitation/complete!", name: "CompleteElicitation", role: "ElicitationCompleter", capability: "elicitation.url",
		bits: none, with: "Elicitor"},
	{key: "auth/status_update!", name: "AuthStatusUpdate", role: "AuthStatusUpdater"},
	{key: "mcp/message", name: "MessageMCP", role: "MCPMessageHandler"}, // the agent advertises it for both directions

	{key: "proxy/initialize"},
	{key: "proxy/successor"},
	{key: "proxy/successor!"},
	{key: "$/cancel_request!"},
}
