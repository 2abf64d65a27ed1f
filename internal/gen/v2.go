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
	// An agent may use MCP servers of the client without handling their notifications.
	{key: "mcp/message!", name: "MessageMCPNotification", role: "MCPNotificationHandler", capability: "session.mcp.acp", bits: none},

	{key: "session/request_permission", name: "RequestPermission", role: "Client", waits: true, handleHook: true},
	{key: "session/update!", name: "SessionUpdate", role: "Client", handleHook: true},
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

// v2Tables returns what the facts of version 2 do not say.
func v2Tables() *tables {
	methods, order := inOrder(v2Methods)
	return &tables{
		builtins: rows(map[string]baseKind{
			"ProtocolVersion": isUint16, // acp.ProtocolVersion is the constant
			"ErrorData":       isRaw,    // either of two definitions, or anything else
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
			"DiffChange":                    {"Operation", "DiffOperation", "is the kind of change of a file."},
		}),
		foreignUnions: rows(map[string]yes{}),
		folded: rows(map[string]foldedRow{
			"IdleStateUpdate": {"stopReason", "StopReason", "is the reason why the agent stopped working."},
		}),
		inlineVariants: rows(map[string]string{
			"CreateElicitationResponse.decline":     "ElicitationDeclineAction",
			"CreateElicitationResponse.cancel":      "ElicitationCancelAction",
			"SetSessionConfigOptionRequest.id":      "SessionConfigValue",
			"SetSessionConfigOptionRequest.boolean": "SessionConfigBooleanValue",
			"SessionUpdate.state_update":            "SessionStateUpdate",
			"DiffChange.add":                        "DiffAdd",
			"DiffChange.delete":                     "DiffDelete",
			"DiffChange.modify":                     "DiffModify",
			"DiffChange.move":                       "DiffMove",
			"DiffChange.copy":                       "DiffCopy",
		}),
		unknownNames: rows(map[string]string{
			"StateUpdate":      "OtherStateUpdate", // UnknownStateUpdate is a state of the protocol
			"ElicitationScope": "",                 // neither of the two is an error
		}),
		pointers: rows(map[string]yes{
			"ListSessionsRequest.cursor":      {}, // an empty cursor is a cursor
			"ListSessionsResponse.nextCursor": {},
		}),
		guesses: rows(map[string]yes{}),
		threeStates: rows(map[string]yes{
			"SessionInfoUpdate.title":              {},
			"SessionInfoUpdate.updatedAt":          {},
			"UsageUpdate.cost":                     {},
			"CompactionUpdate.summary":             {},
			"CompactionUpdate.error":               {},
			"UserMessage.content":                  {},
			"AgentMessage.content":                 {},
			"AgentThought.content":                 {},
			"ToolCallUpdate.name":                  {},
			"ToolCallUpdate.title":                 {},
			"ToolCallUpdate.kind":                  {},
			"ToolCallUpdate.status":                {},
			"ToolCallUpdate.content":               {},
			"ToolCallUpdate.locations":             {},
			"ToolCallUpdate.capabilities":          {},
			"TerminalUpdate.command":               {},
			"TerminalUpdate.cwd":                   {},
			"TerminalUpdate.output":                {},
			"TerminalUpdate.exitStatus":            {},
			"TerminalUpdate.size":                  {},
			"TerminalUpdate.capabilities":          {},
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
		notIDs: rows(map[string]yes{"SessionConfigValueId": {}, "SessionListCursor": {}, "MediaType": {}}),
		prose: rows(map[string]string{
			"NewSessionResponse.sessionId":               "min=1", // without it there is nothing to go on with
			"ForkSessionResponse.sessionId":              "min=1",
			"PromptResponse.messageId":                   "min=1",
			"NewSessionRequest.cwd":                      "abspath",
			"NewSessionRequest.additionalDirectories":    "abspath",
			"ResumeSessionRequest.cwd":                   "abspath",
			"ResumeSessionRequest.additionalDirectories": "abspath",
			"ForkSessionRequest.cwd":                     "abspath",
			"ForkSessionRequest.additionalDirectories":   "abspath",
			"ListSessionsRequest.cwd":                    "abspath",
			"SessionInfo.cwd":                            "abspath",
			"SessionInfo.additionalDirectories":          "abspath",
			"SubagentUpdate.cwd":                         "abspath",
			"SubagentUpdate.additionalDirectories":       "abspath",
			"ToolCallLocation.path":                      "abspath",
			"DiffPathChange.path":                        "abspath",
			"DiffPathPairChange.path":                    "abspath",
			"DiffPathPairChange.oldPath":                 "abspath",
			"CommandPermissionSubject.cwd":               "abspath",
			"TerminalUpdate.cwd":                         "abspath",
			"McpServerStdio.command":                     "abspath",
			"CommandPermissionSubject.command":           "filled",
			"RequestPermissionRequest.title":             "filled",
		}),
		boundURIs: true,
		groups:    rows(map[string]yes{"ElicitationCapabilities": {}}),
		methods:   methods,
		order:     order,
	}
}
