package acp_test

import (
	"reflect"

	"github.com/acpkit/go-sdk/acp/v2"
)

// The rest of this file describes this version to the tests that both versions share.

const (
	schemaDir   = "../../internal/schema/"
	vectorsFile = "../testdata/decode.json"
	schemaName  = "v2"

	definitions         = 262
	stableRequests      = 14
	stableNotifications = 4
)

// elsewhere lists the definitions without a Go type, and what represents them.
var elsewhere = map[string]string{
	"ExtRequest":      "any JSON: json.RawMessage in ExtensionHandler",
	"ExtResponse":     "any JSON: json.RawMessage in ExtensionHandler",
	"ExtNotification": "any JSON: json.RawMessage in ExtensionNotificationHandler",
	"ProtocolVersion": "uint16; acp.ProtocolVersion is the constant",
	"ErrorStopReason": "the member error of IdleStateUpdate",
	"ErrorData":       "json.RawMessage",
}

// neededMembers has the members that unknown variants must have, by union.
var neededMembers = map[string]string{
	"AuthMethod":               `,"methodId":"m","name":"n"`,
	"AvailableCommand":         `,"name":"n","description":"d"`,
	"PlanUpdateContent":        `,"planId":"p"`,
	"SessionConfigOptionValue": `,"value":5`,
}

// initializeResult is the shortest result of initialize, with the version left open.
const initializeResult = `{"protocolVersion":%s,"info":{"name":"n","version":"v"}}`

// otherIDs lists ids that are neither numbers nor strings.
var otherIDs []acp.RequestID

// handWritten has the variants of unions whose codec is written by hand.
var handWritten map[reflect.Type][]any

// differences lists the inputs that this package decodes differently on purpose, with the result.
// An empty result means an error.
var differences = map[string]struct{ output, why string }{
	`{"used":100000000000000000000,"size":10}`: {
		``, "an integer beyond 64 bits is malformed"},
}
