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
	// An agent may use MCP servers of the client without handling their notifications.
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
	// Each mode of an elicitation has a capability. A client with the method is assumed to show
	// forms.
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

// v1Tables returns what the facts of version 1 do not say.
func v1Tables() *tables {
	methods, order := inOrder(v1Methods)
	return &tables{
		builtins: rows(map[string]baseKind{
			"ProtocolVersion": isUint16, // acp.ProtocolVersion is the constant
		}),
		foreign: rows(map[string]foreignRow{
			"RequestId":                  {"RequestID", false, false},
			"ElicitationContentValue":    {"ElicitationContentValue", true, false},
			"SessionConfigSelectOptions": {"SessionConfigSelectOptions", false, true},
			"MessageMcpResponse":         {"MessageMCPResponse", false, false},
		}),
		flat: rows(map[string]flatRow{
			"CreateElicitationRequest":      {"Mode", "ElicitationMode", "is the way to ask the user: with a form or on a web page."},
			"CreateElicitationResponse":     {"Action", "ElicitationAction", "is the reaction of the user to the question."},
			"SessionConfigOption":           {"Kind", "SessionConfigKind", "contains the possible values of a config option and the current one."},
			"SetSessionConfigOptionRequest": {"Value", "SessionConfigOptionValue", "is the new value of a config option."},
			"ElicitationFormMode":           {"Scope", "ElicitationScope", "is the session, or the request outside any session, that the question belongs to."},
			"ElicitationUrlMode":            {"Scope", "ElicitationScope", ""},
		}),
		foreignUnions: rows(map[string]yes{"SessionConfigOptionValue": {}}),
		folded: rows(map[string]foldedRow{
			"IdleStateUpdate": {"stopReason", "IdleStopReason", "is the reason why a subagent stopped working."},
		}),
		inlineVariants: rows(map[string]string{
			"RequestPermissionOutcome.cancelled": "CancelledPermissionOutcome",
			"CreateElicitationResponse.decline":  "ElicitationDeclineAction",
			"CreateElicitationResponse.cancel":   "ElicitationCancelAction",
		}),
		unknownNames: rows(map[string]string{
			"StateUpdate":      "OtherStateUpdate", // UnknownStateUpdate is a state of the protocol
			"ElicitationScope": "",                 // neither of the two is an error
		}),
		guesses: rows(map[string]yes{
			"MCPServer": {}, // as other SDKs do; an unknown one with a command is started like stdio
		}),
		pointers: rows(map[string]yes{
			"Diff.oldText": {}, // an empty file is not a new file
		}),
		threeStates: rows(map[string]yes{
			"SessionInfoUpdate.title":              {},
			"SessionInfoUpdate.updatedAt":          {},
			"CompactionUpdate.summary":             {},
			"CompactionUpdate.error":               {},
			"SubagentUpdate.title":                 {},
			"SubagentUpdate.description":           {},
			"SubagentUpdate.capabilities":          {},
			"SubagentUpdate.state":                 {},
			"SubagentUpdate.cwd":                   {},
			"SubagentUpdate.additionalDirectories": {},
			"SessionMessage.senderSessionId":       {},
			"SessionMessage.recipientSessionId":    {},
			"SessionMessage.senderMessageId":       {},
			"SessionMessage.recipientMessageId":    {},
			"SessionMessage.content":               {},
			"StringPropertySchema.default":         {},
			"NumberPropertySchema.default":         {},
			"IntegerPropertySchema.default":        {},
			"BooleanPropertySchema.default":        {},
			"MultiSelectPropertySchema.default":    {},
		}),
		notIDs: rows(map[string]yes{"SessionConfigValueId": {}}),
		prose: rows(map[string]string{
			"NewSessionResponse.sessionId":               "min=1", // without it there is nothing to go on with
			"ForkSessionResponse.sessionId":              "min=1",
			"CreateTerminalResponse.terminalId":          "min=1",
			"NewSessionRequest.cwd":                      "abspath",
			"NewSessionRequest.additionalDirectories":    "abspath",
			"LoadSessionRequest.cwd":                     "abspath",
			"LoadSessionRequest.additionalDirectories":   "abspath",
			"ResumeSessionRequest.cwd":                   "abspath",
			"ResumeSessionRequest.additionalDirectories": "abspath",
			"ForkSessionRequest.cwd":                     "abspath",
			"ForkSessionRequest.additionalDirectories":   "abspath",
			"ListSessionsRequest.cwd":                    "abspath",
			"SessionInfo.cwd":                            "abspath",
			"SessionInfo.additionalDirectories":          "abspath",
			"SubagentUpdate.cwd":                         "abspath",
			"SubagentUpdate.additionalDirectories":       "abspath",
			"ReadTextFileRequest.path":                   "abspath",
			"WriteTextFileRequest.path":                  "abspath",
			"CreateTerminalRequest.command":              "filled",
			"CreateTerminalRequest.cwd":                  "abspath",
			"Diff.path":                                  "abspath",
			"ToolCallLocation.path":                      "abspath",
			"ResourceLink.uri":                           "uri",
			"ImageContent.uri":                           "uri",
			"TextResourceContents.uri":                   "uri",
			"BlobResourceContents.uri":                   "uri",
			"PlanFile.uri":                               "uri",
			"McpServerStdio.command":                     "filled",
			"McpServerHttp.url":                          "uri",
			"McpServerSse.url":                           "uri",
			"SetProviderRequest.baseUrl":                 "uri",
			"ProviderCurrentConfig.baseUrl":              "uri",
		}),
		groups:  rows(map[string]yes{"ElicitationCapabilities": {}}),
		methods: methods,
		order:   order,
	}
}
