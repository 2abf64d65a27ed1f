package acp_test

import (
	"reflect"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/codectest"
)

func TestCodecs(t *testing.T) { codectest.Test(t, version) }

// version describes this version to the tests that all versions share.
var version = &codectest.Version{
	Tables: acp.Tables,
	Number: acp.ProtocolVersion,
	Schema: "../internal/schema",
	Types:  []string{"testdata/decode.json", "testdata/november.json"},

	StableRequests:      21,
	StableNotifications: 4,

	Elsewhere: map[string]string{
		"ExtRequest":      "any JSON: json.RawMessage in ExtensionHandler",
		"ExtResponse":     "any JSON: json.RawMessage in ExtensionHandler",
		"ExtNotification": "any JSON: json.RawMessage in ExtensionNotificationHandler",
		"ProtocolVersion": "uint16; acp.ProtocolVersion is the constant",
		"ErrorStopReason": "the member error of IdleStateUpdate",
	},
	HandWritten: map[reflect.Type][]any{
		reflect.TypeFor[acp.ElicitationContentValue]():  {new(acp.ElicitationString), new(acp.ElicitationInteger), new(acp.ElicitationNumber), new(acp.ElicitationBoolean), new(acp.ElicitationStrings)},
		reflect.TypeFor[acp.SessionConfigOptionValue](): {&acp.SessionConfigValue{}, &acp.SessionConfigBooleanValue{}, &acp.UnknownSessionConfigOptionValue{}},
	},
	InitializeResult: `{"protocolVersion":%s}`,
	NewID: func(n int64, text string) any {
		switch uint64(n) % 3 {
		case 0:
			return acp.NumberID(n)
		case 1:
			return acp.StringID(text)
		}
		var id acp.RequestID
		if err := id.UnmarshalJSON([]byte("null")); err != nil {
			panic(err)
		}
		return id
	},
	Differences: map[string]struct{ Output, Why string }{
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
	},
}
