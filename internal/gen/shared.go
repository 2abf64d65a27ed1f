package main

// sharedMethods are the methods that are the same in both versions, except for the capabilities of
// sessions. They follow the others of their end, in the order of the protocol.
func sharedMethods(session, mcp string) []methodRow {
	return []methodRow{
		{key: "providers/list", name: "ListProviders", role: "ProviderManager", capability: "providers"},
		{key: "providers/set", name: "SetProvider", role: "ProviderManager", capability: "providers"},
		{key: "providers/disable", name: "DisableProvider", role: "ProviderManager", capability: "providers"},
		{key: "session/fork", name: "ForkSession", role: "SessionForker", capability: session + ".fork", strict: true, callHook: true},
		{key: "session/archive", name: "ArchiveSession", role: "SessionArchiver", capability: session + ".archive"},
		{key: "session/unarchive", name: "UnarchiveSession", role: "SessionArchiver", capability: session + ".archive"},
		{key: "session/status", name: "SessionStatus", role: "SessionStatusReporter", capability: session + ".status"},
		{key: "session/options", name: "SessionOptions", role: "SessionOptionsReporter", capability: session + ".options", strict: true},
		{key: "session/set_title", name: "SetSessionTitle", role: "SessionTitleSetter", capability: session + ".title"},
		{key: "auth/status", name: "AuthStatus", role: "AuthStatusReporter", capability: "auth.status"},
		// An agent may use MCP servers of the client without handling their notifications.
		{key: "mcp/message!", name: "MessageMCPNotification", role: "MCPNotificationHandler", capability: mcp, bits: none},

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
}

// sharedTables returns what the facts of neither version say.
func sharedTables() *tables {
	t := &tables{}
	t.builtins.add(map[string]baseKind{
		"ProtocolVersion": isUint16, // acp.ProtocolVersion is the constant
	})
	t.foreign.add(map[string]foreignRow{
		"RequestId":                  {"RequestID", false, false},
		"ElicitationContentValue":    {"ElicitationContentValue", true, false},
		"SessionConfigSelectOptions": {"SessionConfigSelectOptions", false, true},
		"MessageMcpResponse":         {"MessageMCPResponse", false, false},
	})
	t.flat.add(map[string]flatRow{
		"CreateElicitationRequest":      {"Mode", "ElicitationMode", "is the way to ask the user: with a form or on a web page."},
		"CreateElicitationResponse":     {"Action", "ElicitationAction", "is the reaction of the user to the question."},
		"SessionConfigOption":           {"Kind", "SessionConfigKind", "contains the possible values of a config option and the current one."},
		"SetSessionConfigOptionRequest": {"Value", "SessionConfigOptionValue", "is the new value of a config option."},
		"InitialSessionConfigOption":    {"Value", "SessionConfigOptionValue", ""},
		"ElicitationFormMode":           {"Scope", "ElicitationScope", "is the session, or the request outside any session, that the question belongs to."},
		"ElicitationUrlMode":            {"Scope", "ElicitationScope", ""},
	})
	t.inlineVariants.add(map[string]string{
		"CreateElicitationResponse.decline": "ElicitationDeclineAction",
		"CreateElicitationResponse.cancel":  "ElicitationCancelAction",
		"CursorAnchor.user_message":         "CursorUserMessageAnchor",
		"CursorAnchor.agent_message":        "CursorAgentMessageAnchor",
		"CursorAnchor.agent_thought":        "CursorAgentThoughtAnchor",
		"CursorAnchor.session_message":      "CursorSessionMessageAnchor",
	})
	t.unknownNames.add(map[string]string{
		"StateUpdate":      "OtherStateUpdate", // UnknownStateUpdate is a state of the protocol
		"ElicitationScope": "",                 // neither of the two is an error
	})
	t.forms.add(memberRows(opt, map[string][]string{
		"SessionInfoUpdate":         {"title", "updatedAt"},
		"CompactionUpdate":          {"summary", "error"},
		"CursorUpdate":              {"capabilities"},
		"SubagentUpdate":            {"title", "description", "capabilities", "state", "cwd", "additionalDirectories"},
		"SessionMessage":            {"senderSessionId", "recipientSessionId", "senderMessageId", "recipientMessageId", "content"},
		"StringPropertySchema":      {"default"},
		"NumberPropertySchema":      {"default"},
		"IntegerPropertySchema":     {"default"},
		"BooleanPropertySchema":     {"default"},
		"MultiSelectPropertySchema": {"default"},
	}))
	t.notIDs.add(map[string]yes{"SessionConfigValueId": {}})
	t.prose.add(memberRows("min=1", map[string][]string{
		"NewSessionResponse":  {"sessionId"}, // without it there is nothing to go on with
		"ForkSessionResponse": {"sessionId"},
	}))
	t.prose.add(memberRows("abspath", map[string][]string{
		"NewSessionRequest":     {"cwd", "additionalDirectories"},
		"ResumeSessionRequest":  {"cwd", "additionalDirectories"},
		"ForkSessionRequest":    {"cwd", "additionalDirectories"},
		"SessionOptionsRequest": {"cwd", "additionalDirectories"},
		"PlanMarkdown":          {"path"},
		"ListSessionsRequest":   {"cwd"},
		"SessionInfo":           {"cwd", "additionalDirectories"},
		"SubagentUpdate":        {"cwd", "additionalDirectories"},
		"ToolCallLocation":      {"path"},
	}))
	t.groups.add(map[string]yes{"ElicitationCapabilities": {}})
	return t
}
