package main

// v1Methods are the methods of version 1, in the order of the protocol.
var v1Methods = []methodRow{
	{key: "initialize", name: "Initialize", role: "Agent", callHook: true, handleHook: true},
	{key: "authenticate", name: "Authenticate", role: "Authenticator"},
	{key: "logout", name: "Logout", role: "LogoutHandler", capability: "auth.logout"},
	{key: "session/new", name: "NewSession", role: "Agent", strict: true, callHook: true},
	{key: "session/load", name: "LoadSession", role: "SessionLoader", capability: "loadSession",
		strict: true, waits: true, streams: true, callHook: true},
	{key: "session/resume", name: "ResumeSession", role: "SessionResumer", capability: "sessionCapabilities.resume",
		strict: true, streams: true, callHook: true},
	{key: "session/list", name: "ListSessions", role: "SessionLister", capability: "sessionCapabilities.list"},
	{key: "session/delete", name: "DeleteSession", role: "SessionDeleter", capability: "sessionCapabilities.delete", callHook: true},
	{key: "session/close", name: "CloseSession", role: "SessionCloser", capability: "sessionCapabilities.close",
		endsTurn: true, callHook: true},
	{key: "session/set_mode", name: "SetSessionMode", role: "SessionModeSetter", callHook: true},
	{key: "session/set_config_option", name: "SetSessionConfigOption", role: "SessionConfigOptionSetter", callHook: true},
	{key: "session/prompt", name: "Prompt", role: "Agent", waits: true, streams: true, turn: true, callHook: true, handleHook: true},
	{key: "session/cancel!", name: "Cancel", role: "Agent", endsTurn: true, callHook: true},
	{key: "providers/list", name: "ListProviders", role: "ProviderManager", capability: "providers"},
	{key: "providers/set", name: "SetProvider", role: "ProviderManager", capability: "providers"},
	{key: "providers/disable", name: "DisableProvider", role: "ProviderManager", capability: "providers"},
	{key: "session/fork", name: "ForkSession", role: "SessionForker", capability: "sessionCapabilities.fork", strict: true, callHook: true},
	{key: "session/archive", name: "ArchiveSession", role: "SessionArchiver", capability: "sessionCapabilities.archive"},
	{key: "session/unarchive", name: "UnarchiveSession", role: "SessionArchiver", capability: "sessionCapabilities.archive"},
	{key: "session/status", name: "SessionStatus", role: "SessionStatusReporter", capability: "sessionCapabilities.status"},
	{key: "session/set_title", name: "SetSessionTitle", role: "SessionTitleSetter", capability: "sessionCapabilities.title"},
	{key: "auth/status", name: "AuthStatus", role: "AuthStatusReporter", capability: "auth.status"},
	// An agent that uses MCP servers of the client need not hear what they say meanwhile.
	{key: "mcp/message!", name: "MessageMCPNotification", role: "MCPNotificationHandler", capability: "mcpCapabilities.acp", bits: none},

	{key: "session/request_permission", name: "RequestPermission", role: "Client", waits: true, handleHook: true},
	{key: "session/update!", name: "SessionUpdate", role: "Client", handleHook: true},
	{key: "fs/read_text_file", name: "ReadTextFile", role: "TextFileReader", capability: "fs.readTextFile"},
	{key: "fs/write_text_file", name: "WriteTextFile", role: "TextFileWriter", capability: "fs.writeTextFile"},
	{key: "terminal/create", name: "CreateTerminal", role: "TerminalHost", capability: "terminal"},
	{key: "terminal/output", name: "TerminalOutput", role: "TerminalHost", capability: "terminal"},
	{key: "terminal/wait_for_exit", name: "WaitForTerminalExit", role: "TerminalHost", capability: "terminal", waits: true},
	{key: "terminal/kill", name: "KillTerminal", role: "TerminalHost", capability: "terminal"},
	{key: "terminal/release", name: "ReleaseTerminal", role: "TerminalHost", capability: "terminal"},
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
