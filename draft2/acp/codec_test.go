package acp_test

import (
	"reflect"
	"testing"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/codectest"
)

func TestCodecs(t *testing.T) { codectest.Test(t, version) }

// version describes this version to the tests that all versions share.
var version = &codectest.Version{
	Tables: acp.Tables,
	Number: acp.ProtocolVersion,
	Schema: "../../internal/schema",
	Types:  []string{"../../acp/testdata/decode.json", "../../acp/testdata/november.json"},

	StableRequests:      14,
	StableNotifications: 4,

	Elsewhere: map[string]string{
		"ExtRequest":      "any JSON: json.RawMessage in ExtensionHandler",
		"ExtResponse":     "any JSON: json.RawMessage in ExtensionHandler",
		"ExtNotification": "any JSON: json.RawMessage in ExtensionNotificationHandler",
		"ProtocolVersion": "uint16; acp.ProtocolVersion is the constant",
		"ErrorStopReason": "the member error of IdleStateUpdate",
		"ErrorData":       "json.RawMessage",
	},
	Needed: map[string]string{
		"AuthMethod":               `,"methodId":"m","name":"n"`,
		"AvailableCommand":         `,"name":"n","description":"d"`,
		"PlanUpdateContent":        `,"planId":"p"`,
		"SessionConfigOptionValue": `,"value":5`,
	},
	HandWritten: map[reflect.Type][]any{
		reflect.TypeFor[acp.ElicitationContentValue](): {new(acp.ElicitationString), new(acp.ElicitationInteger), new(acp.ElicitationNumber), new(acp.ElicitationBoolean), new(acp.ElicitationStrings)},
	},
	InitializeResult: `{"protocolVersion":%s,"info":{"name":"n","version":"v"}}`,
	NewID: func(n int64, text string) any {
		if n%2 == 0 {
			return acp.NumberID(n)
		}
		return acp.StringID(text)
	},
	Differences: map[string]struct{ Output, Why string }{
		`{"used":100000000000000000000,"size":10}`: {
			``, "an integer beyond 64 bits is malformed"},
	},
}
