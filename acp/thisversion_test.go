package acp_test

import (
	"reflect"

	"github.com/acpkit/go-sdk/acp"
)

// The rest of this file describes this version to the tests that both versions share.

const (
	schemaDir   = "../internal/schema/"
	vectorsFile = "testdata/decode.json"
	schemaName  = "v1"

	definitions         = 252
	stableRequests      = 21
	stableNotifications = 4
)

// elsewhere lists the definitions without a Go type, and what represents them.
var elsewhere = map[string]string{
	"ExtRequest":      "any JSON: json.RawMessage in ExtensionHandler",
	"ExtResponse":     "any JSON: json.RawMessage in ExtensionHandler",
	"ExtNotification": "any JSON: json.RawMessage in ExtensionNotificationHandler",
	"ProtocolVersion": "uint16; acp.ProtocolVersion is the constant",
	"ErrorStopReason": "the member error of IdleStateUpdate",
}

// neededMembers has the members that unknown variants must have, by union.
var neededMembers = map[string]string{}

// initializeResult is the shortest result of initialize, with the version left open.
const initializeResult = `{"protocolVersion":%s}`

// otherIDs lists ids that are neither numbers nor strings.
var otherIDs = func() []acp.RequestID {
	ids := make([]acp.RequestID, 1)
	if err := ids[0].UnmarshalJSON([]byte("null")); err != nil {
		panic(err)
	}
	return ids
}()

// handWritten has the variants of unions whose codec is written by hand.
var handWritten = map[reflect.Type][]any{
	reflect.TypeFor[acp.SessionConfigOptionValue](): {&acp.SessionConfigValue{}, &acp.SessionConfigBooleanValue{}, &acp.UnknownSessionConfigOptionValue{}},
}

// differences lists the inputs that this package decodes differently on purpose, with the result.
// An empty result means an error.
var differences = map[string]struct{ output, why string }{
	`{"name":"n","uri":"u","size":1e+300}`: {
		`{"name":"n","uri":"u"}`, "an integer beyond 64 bits is malformed, and the member is lenient"},
	`{"used":100000000000000000000,"size":10}`: {
		``, "an integer beyond 64 bits is malformed"},
	`{"type":"_x","a":1,"_meta":5}`: {
		`{"type":"_x","a":1,"_meta":5}`, "unknown variants of closed unions are kept"},
	`{"outcome":"_x","y":1}`: {
		`{"outcome":"_x","y":1}`, "unknown variants of closed unions are kept"},
	`{"optionId":"o","name":"n","kind":"weird"}`: {
		`{"optionId":"o","name":"n","kind":"weird"}`, "unknown values of closed enumerations are kept"},
	`{"toolCallId":"t","kind":"weird","status":"weird","title":5,"content":"x","locations":[{"path":"/a","line":-1},{"line":1},{"path":"/b","line":4294967296}],"rawInput":null,"rawOutput":[1]}`: {
		`{"toolCallId":"t","kind":"weird","status":"weird","locations":[{"path":"/a"},{"path":"/b"}],"rawInput":null,"rawOutput":[1]}`, "unknown values of closed enumerations are kept"},
	`{"type":"string","format":"weird"}`: {
		`{"type":"string","format":"weird"}`, "unknown values of closed enumerations are kept"},
	`{"sessionUpdate":"plan","entries":[{"content":"a","priority":"urgent","status":"pending"}]}`: {
		`{"sessionUpdate":"plan","entries":[{"content":"a","priority":"urgent","status":"pending"}]}`, "unknown values of closed enumerations are kept"},
	`{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[{"id":"a","name":"A"},{"id":5}]},"configOptions":[{"id":"c","name":"C","type":"boolean","currentValue":true},{"id":"c","name":"C","type":"future","currentValue":1},{"id":"c","name":"C","type":"select","currentValue":"x","options":[{"value":"x","name":"X"}]}]}`: {
		`{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[{"id":"a","name":"A"}]},"configOptions":[{"currentValue":true,"type":"boolean","id":"c","name":"C"},{"id":"c","name":"C","type":"future","currentValue":1},{"currentValue":"x","options":[{"value":"x","name":"X"}],"type":"select","id":"c","name":"C"}]}`, "unknown variants of closed unions are kept"},
	`{"protocolVersion":1,"agentCapabilities":{"loadSession":"x","promptCapabilities":5,"mcpCapabilities":{"http":true,"sse":"x"},"sessionCapabilities":{"list":{},"delete":5}},"authMethods":[{"id":"a","name":"A"},{"id":"b"},{"type":"terminal","id":"c","name":"C","args":null,"env":{"A":"1"}},{"type":"future","id":"d","name":"D","extra":1}],"info":{"name":"n","version":"v"},"capabilities":{}}`: {
		`{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"authMethods":[{"id":"a","name":"A"},{"id":"c","name":"C","env":{"A":"1"},"type":"terminal"},{"type":"future","id":"d","name":"D","extra":1}]}`, "auth methods of an unknown type are kept"},
}
