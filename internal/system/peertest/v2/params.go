// Package peertest has an agent and a client of version 2 with every method.
package peertest

import (
	"cmp"
	"context"
	"testing"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/wire"
)

// A Do handles any method of a [FullAgent] or [FullClient]; see [peertest.Do].
type Do = peertest.Do

// Around returns a middleware that is written as one function.
var Around = peertest.Around

var note, extension = peertest.Note, peertest.Extension // for the generated methods

func result[R any](ctx context.Context, f Do, method string, params any) (*R, error) {
	raw := RawResult(method)
	if p, ok := params.(*acp.RequestPermissionRequest); ok && len(p.Options) > 0 {
		raw = peertest.Choice(p.Options[0].OptionID)
	}
	return peertest.Result[R](ctx, f, method, params, raw)
}

// RawResult returns a valid result for a request.
func RawResult(method string) string { return cmp.Or(results[method], `{}`) }

// Requests lists the requests that one side handles, and an extension.
func Requests(t testing.TB, side wire.Side) []string {
	t.Helper()
	return peertest.RequestsOf(t, acp.ProtocolVersion, side, Params)
}

// Params has valid params for every request of the protocol, and for an extension.
var Params = map[string]string{
	"initialize":                 `{"protocolVersion":2,"info":{"name":"n","version":"v"},"capabilities":{}}`,
	"auth/login":                 `{"methodId":"m"}`,
	"auth/logout":                `{}`,
	"session/new":                `{"cwd":"/"}`,
	"session/resume":             `{"sessionId":"s","cwd":"/"}`,
	"session/list":               `{}`,
	"session/delete":             `{"sessionId":"s"}`,
	"session/close":              `{"sessionId":"s"}`,
	"session/set_config_option":  `{"sessionId":"s","configId":"c","type":"id","value":"v"}`,
	"session/prompt":             `{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}`,
	"tool_call/cancel":           `{"sessionId":"s","toolCallId":"t"}`,
	"terminal/cancel":            `{"sessionId":"s","terminalId":"t"}`,
	"providers/list":             `{}`,
	"providers/set":              `{"providerId":"p","apiType":"openai","baseUrl":"https://x.test"}`,
	"providers/disable":          `{"providerId":"p"}`,
	"session/fork":               `{"sessionId":"s","cwd":"/"}`,
	"session/archive":            `{"sessionId":"s"}`,
	"session/unarchive":          `{"sessionId":"s"}`,
	"session/status":             `{"sessionId":"s"}`,
	"session/options":            `{"cwd":"/"}`,
	"session/set_title":          `{"sessionId":"s","title":"t"}`,
	"auth/status":                `{}`,
	"session/request_permission": `{"sessionId":"s","title":"t","options":[{"optionId":"o","name":"n","kind":"allow_once"}]}`,
	"elicitation/create":         `{"requestId":1,"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`,
	"mcp/message":                `{"serverId":"s","requestId":"r","method":"tools/list"}`,
	"_extension":                 `{"n":1}`,
}

// results has a valid result for the requests whose result must not be empty.
var results = map[string]string{
	"initialize":                 `{"protocolVersion":2,"info":{"name":"a","version":"1"}}`,
	"session/new":                `{"sessionId":"s"}`,
	"session/list":               `{"sessions":[]}`,
	"session/set_config_option":  `{"configOptions":[]}`,
	"session/prompt":             `{"messageId":"m"}`,
	"providers/list":             `{"providers":[]}`,
	"session/fork":               `{"sessionId":"f"}`,
	"session/status":             `{"status":"open"}`,
	"session/options":            `{}`,
	"session/set_title":          `{"title":"t"}`,
	"auth/status":                `{"state":"authenticated"}`,
	"session/request_permission": `{"outcome":{"outcome":"cancelled"}}`,
	"elicitation/create":         `{"action":"decline"}`,
	"mcp/message":                `{"result":{}}`,
}
