package main

import (
	"fmt"
	"slices"
)

// The tables in this file hold what the facts do not say. A row that nothing asks
// for makes the generator fail, so that none outlives its definition.

// table is a set of rows by key.
type table[V any] struct {
	rows map[string]V
	used map[string]bool
}

func rows[V any](m map[string]V) *table[V] {
	return &table[V]{rows: m, used: map[string]bool{}}
}

func (t *table[V]) get(key string) (V, bool) {
	v, ok := t.rows[key]
	if ok {
		t.used[key] = true
	}
	return v, ok
}

func (t *table[V]) has(key string) bool {
	_, ok := t.get(key)
	return ok
}

func (t *table[V]) unused(name string) []string {
	var list []string
	for key := range t.rows {
		if !t.used[key] {
			list = append(list, fmt.Sprintf("%s: %s", name, key))
		}
	}
	slices.Sort(list)
	return list
}

type yes = struct{}

// builtins are definitions that are plain Go types.
var builtins = rows(map[string]baseKind{
	"ProtocolVersion": isUint16, // acp.ProtocolVersion is the constant
})

// foreign are definitions whose Go type and codec are written by hand, because
// they are told apart by the kinds of JSON values.
var foreign = rows(map[string]struct {
	name  string // in Go
	iface bool   // an interface, not a struct
	ruled bool   // has a check
}{
	"RequestId":                  {"RequestID", false, false},
	"ElicitationContentValue":    {"ElicitationContentValue", true, false},
	"SessionConfigSelectOptions": {"SessionConfigSelectOptions", false, true},
	"MessageMcpResponse":         {"MessageMCPResponse", false, false},
})

// flat are definitions that mix members of their own with those of a union. The
// Go struct has the union in a field.
var flat = rows(map[string]struct{ field, union, doc string }{
	"CreateElicitationRequest":      {"Mode", "ElicitationMode", "is the way in which the user is asked."},
	"CreateElicitationResponse":     {"Action", "ElicitationAction", "is what the user did with the question."},
	"SessionConfigOption":           {"Kind", "SessionConfigKind", "is what can be chosen, and what is chosen now."},
	"SetSessionConfigOptionRequest": {"Value", "SessionConfigOptionValue", "is the new value of a config option."},
	"ElicitationFormMode":           {"Scope", "ElicitationScope", "is what the question belongs to: a session, or a request outside of sessions."},
	"ElicitationUrlMode":            {"Scope", "ElicitationScope", ""},
})

// foreignUnions are unions of flat definitions whose codec is written by hand.
var foreignUnions = rows(map[string]yes{"SessionConfigOptionValue": {}})

// folded are definitions with one union whose variants differ in little more than
// the tag: the tag becomes an enumeration, payloads become optional members.
var folded = rows(map[string]struct{ tag, enum, doc string }{
	"IdleStateUpdate": {"stopReason", "IdleStopReason", "says why a subagent stopped working."},
})

// inlineVariants name the variants that have no definition, by "Union.tag".
var inlineVariants = rows(map[string]string{
	"RequestPermissionOutcome.cancelled": "CancelledPermissionOutcome",
	"CreateElicitationResponse.decline":  "ElicitationDeclineAction",
	"CreateElicitationResponse.cancel":   "ElicitationCancelAction",
})

// unknownNames name the variant for unknown values where Unknown<Union> is taken,
// or say with "" that there is none.
var unknownNames = rows(map[string]string{
	"StateUpdate":      "OtherStateUpdate", // UnknownStateUpdate is a state of the protocol
	"ElicitationScope": "",                 // neither of the two is an error
})

// pointers are optional members whose zero value differs from absence, beside
// numbers and structs, where that is so anyway.
var pointers = rows(map[string]yes{
	"Diff.oldText": {}, // an empty file is not a new file
})

// threeStates are members that are patched: absent, null and a value differ.
var threeStates = rows(map[string]yes{
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
})

// notIDs are string types named ...Id that may be empty, because agents choose
// them for their meaning.
var notIDs = rows(map[string]yes{"SessionConfigValueId": {}})

// prose are the rules of the protocol's text for members.
var prose = rows(map[string]string{
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
})

func unusedRows() []string {
	return slices.Concat(
		builtins.unused("builtins"), foreign.unused("foreign"), flat.unused("flat"),
		foreignUnions.unused("foreignUnions"), folded.unused("folded"),
		inlineVariants.unused("inlineVariants"), unknownNames.unused("unknownNames"),
		pointers.unused("pointers"), threeStates.unused("threeStates"),
		notIDs.unused("notIDs"), prose.unused("prose"), methods.unused("methods"),
	)
}
