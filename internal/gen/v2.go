package main

// v2Methods are the methods of version 2 alone, in the order of the protocol.
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

	{key: "session/request_permission", name: "RequestPermission", role: "Client", waits: true, handleHook: true},
	{key: "session/update!", name: "SessionUpdate", role: "Client", callHook: true, handleHook: true},
}

// v2Tables returns what the facts of version 2 do not say.
func v2Tables() *tables {
	t := sharedTables()
	t.setMethods(v2Methods, sharedMethods("session", "session.mcp.acp"))
	t.builtins.add(map[string]baseKind{
		"ErrorData": isRaw, // either of two definitions, or anything else
	})
	t.flat.add(map[string]flatRow{
		"DiffChange": {"Operation", "DiffOperation", "is the kind of change of a file."},
	})
	t.folded.add(map[string]foldedRow{
		"IdleStateUpdate": {"stopReason", "StopReason", "is the reason why the agent stopped working. After a refusal, the prompt and everything after it are not part of the context " +
			"of what follows; a client should show that. All cancelled work ends with [StopReasonCancelled], even if it stopped with an error."},
	})
	t.inlineVariants.add(map[string]string{
		"SetSessionConfigOptionRequest.id":      "SessionConfigValue",
		"SetSessionConfigOptionRequest.boolean": "SessionConfigBooleanValue",
		"SessionUpdate.state_update":            "SessionStateUpdate",
		"DiffChange.add":                        "DiffAdd",
		"DiffChange.delete":                     "DiffDelete",
		"DiffChange.modify":                     "DiffModify",
		"DiffChange.move":                       "DiffMove",
		"DiffChange.copy":                       "DiffCopy",
	})
	t.forms.add(memberRows(pointer, map[string][]string{
		"ListSessionsRequest":  {"cursor"}, // an empty cursor is a cursor
		"ListSessionsResponse": {"nextCursor"},
	}))
	t.forms.add(memberRows(opt, map[string][]string{
		"UsageUpdate":    {"cost"},
		"UserMessage":    {"content"},
		"AgentMessage":   {"content"},
		"AgentThought":   {"content"},
		"ToolCallUpdate": {"name", "title", "kind", "status", "content", "locations", "capabilities"},
		"TerminalUpdate": {"command", "cwd", "output", "exitStatus", "size", "capabilities"},
	}))
	t.notIDs.add(map[string]yes{"SessionListCursor": {}, "MediaType": {}})
	t.prose.add(map[string]string{"PromptResponse.messageId": "min=1"})
	t.prose.add(memberRows("abspath", map[string][]string{
		"DiffPathChange":           {"path"},
		"DiffPathPairChange":       {"path", "oldPath"},
		"CommandPermissionSubject": {"cwd"},
		"TerminalUpdate":           {"cwd"},
		"McpServerStdio":           {"command"},
	}))
	t.prose.add(memberRows("filled", map[string][]string{
		"CommandPermissionSubject": {"command"},
		"RequestPermissionRequest": {"title"},
	}))
	t.boundURIs = true
	return t
}
