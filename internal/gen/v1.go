package main

// v1Methods are the methods of version 1 alone, in the order of the protocol.
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

	{key: "session/request_permission", name: "RequestPermission", role: "Client", waits: true, handleHook: true},
	{key: "session/update!", name: "SessionUpdate", role: "Client", handleHook: true},
	{key: "fs/read_text_file", name: "ReadTextFile", role: "TextFileReader", capability: "fs.readTextFile"},
	{key: "fs/write_text_file", name: "WriteTextFile", role: "TextFileWriter", capability: "fs.writeTextFile"},
	{key: "terminal/create", name: "CreateTerminal", role: "TerminalHost", capability: "terminal"},
	{key: "terminal/output", name: "TerminalOutput", role: "TerminalHost", capability: "terminal"},
	{key: "terminal/wait_for_exit", name: "WaitForTerminalExit", role: "TerminalHost", capability: "terminal", waits: true},
	{key: "terminal/kill", name: "KillTerminal", role: "TerminalHost", capability: "terminal"},
	{key: "terminal/release", name: "ReleaseTerminal", role: "TerminalHost", capability: "terminal"},
}

// v1Tables returns what the facts of version 1 do not say.
func v1Tables() *tables {
	t := sharedTables()
	t.setMethods(v1Methods, sharedMethods("sessionCapabilities", "mcpCapabilities.acp"))
	t.foreign.add(map[string]foreignRow{"SessionConfigOptionValue": {"SessionConfigOptionValue", true, false}})
	t.folded.add(map[string]foldedRow{
		"IdleStateUpdate": {"stopReason", "IdleStopReason", "is the reason why a subagent stopped working."},
	})
	t.inlineVariants.add(map[string]string{"RequestPermissionOutcome.cancelled": "CancelledPermissionOutcome"})
	t.guesses.add(map[string]yes{
		"MCPServer": {}, // as other SDKs do; an unknown one with a command is started like stdio
	})
	t.forms.add(map[string]form{
		"Diff.oldText": pointer, // an empty file is not a new file
	})
	t.prose.add(map[string]string{"CreateTerminalResponse.terminalId": "min=1"})
	t.prose.add(memberRows("abspath", map[string][]string{
		"LoadSessionRequest":    {"cwd", "additionalDirectories"},
		"ReadTextFileRequest":   {"path"},
		"WriteTextFileRequest":  {"path"},
		"CreateTerminalRequest": {"cwd"},
		"Diff":                  {"path"},
	}))
	t.prose.add(memberRows("uri", map[string][]string{
		"ResourceLink":          {"uri"},
		"ImageContent":          {"uri"},
		"TextResourceContents":  {"uri"},
		"BlobResourceContents":  {"uri"},
		"McpServerHttp":         {"url"},
		"McpServerSse":          {"url"},
		"SetProviderRequest":    {"baseUrl"},
		"ProviderCurrentConfig": {"baseUrl"},
	}))
	t.prose.add(memberRows("filled", map[string][]string{
		"CreateTerminalRequest": {"command"},
		"McpServerStdio":        {"command"},
	}))
	return t
}
