package acp_test

import (
	"reflect"

	"github.com/acpkit/go-sdk/acp/v2"
)

// What the tests that the versions share need to know of this one.

const (
	schemaDir   = "../../internal/schema/"
	vectorsFile = "../testdata/decode.json"
	schemaName  = "v2"

	definitions         = 262
	stableRequests      = 14
	stableNotifications = 4
)

// elsewhere are the definitions that are no Go type of their own, and what they are
// instead.
var elsewhere = map[string]string{
	"ExtRequest":      "any JSON: json.RawMessage in ExtensionHandler",
	"ExtResponse":     "any JSON: json.RawMessage in ExtensionHandler",
	"ExtNotification": "any JSON: json.RawMessage in ExtensionNotificationHandler",
	"ProtocolVersion": "uint16; acp.ProtocolVersion is the constant",
	"ErrorStopReason": "the member error of IdleStateUpdate",
	"ErrorData":       "json.RawMessage",
}

// neededMembers are what variants that are not known must have, by union.
var neededMembers = map[string]string{
	"AuthMethod":               `,"methodId":"m","name":"n"`,
	"AvailableCommand":         `,"name":"n","description":"d"`,
	"PlanUpdateContent":        `,"planId":"p"`,
	"SessionConfigOptionValue": `,"value":5`,
}

// initializeResult is the shortest result of initialize, with the version left open.
const initializeResult = `{"protocolVersion":%s,"info":{"name":"n","version":"v"}}`

// otherIDs are ids beside numbers and texts.
var otherIDs []acp.RequestID

// handWritten has the variants of unions whose codec is written by hand.
var handWritten map[reflect.Type][]any

// differences are the inputs that we read otherwise on purpose, with what we make
// of them; an empty text means that we refuse them.
var differences = map[string]struct{ output, why string }{
	`{"used":100000000000000000000,"size":10}`: {
		``, "an integer beyond 64 bits is malformed"},
}
