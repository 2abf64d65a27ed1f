package main

// v1Tables are what the facts of version 1 do not say.
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
