package peertest

import (
	"cmp"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Params has valid params for every request of the protocol, and for an extension.
var Params = map[string]string{
	"initialize":                 `{"protocolVersion":1,"clientCapabilities":{}}`,
	"authenticate":               `{"methodId":"m"}`,
	"logout":                     `{}`,
	"session/new":                `{"cwd":"/","mcpServers":[]}`,
	"session/load":               `{"sessionId":"s","cwd":"/","mcpServers":[]}`,
	"session/resume":             `{"sessionId":"s","cwd":"/"}`,
	"session/list":               `{}`,
	"session/delete":             `{"sessionId":"s"}`,
	"session/close":              `{"sessionId":"s"}`,
	"session/set_mode":           `{"sessionId":"s","modeId":"m"}`,
	"session/set_config_option":  `{"sessionId":"s","configId":"c","value":"v"}`,
	"session/prompt":             `{"sessionId":"s","prompt":[]}`,
	"providers/list":             `{}`,
	"providers/set":              `{"providerId":"p","apiType":"openai","baseUrl":"https://x.test"}`,
	"providers/disable":          `{"providerId":"p"}`,
	"session/fork":               `{"sessionId":"s","cwd":"/"}`,
	"session/archive":            `{"sessionId":"s"}`,
	"session/unarchive":          `{"sessionId":"s"}`,
	"session/status":             `{"sessionId":"s"}`,
	"session/set_title":          `{"sessionId":"s","title":"t"}`,
	"auth/status":                `{}`,
	"session/request_permission": `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}`,
	"fs/read_text_file":          `{"sessionId":"s","path":"/x"}`,
	"fs/write_text_file":         `{"sessionId":"s","path":"/x","content":""}`,
	"terminal/create":            `{"sessionId":"s","command":"ls"}`,
	"terminal/output":            `{"sessionId":"s","terminalId":"t"}`,
	"terminal/wait_for_exit":     `{"sessionId":"s","terminalId":"t"}`,
	"terminal/kill":              `{"sessionId":"s","terminalId":"t"}`,
	"terminal/release":           `{"sessionId":"s","terminalId":"t"}`,
	"elicitation/create":         `{"requestId":1,"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`,
	"mcp/message":                `{"serverId":"s","requestId":"r","method":"tools/list"}`,
	"_extension":                 `{"n":1}`,
}

// results has a valid result for the requests whose result must not be empty.
var results = map[string]string{
	"initialize":                 `{"protocolVersion":1}`,
	"session/new":                `{"sessionId":"s"}`,
	"session/list":               `{"sessions":[]}`,
	"session/set_config_option":  `{"configOptions":[]}`,
	"session/prompt":             `{"stopReason":"end_turn"}`,
	"providers/list":             `{"providers":[]}`,
	"session/fork":               `{"sessionId":"s"}`,
	"session/status":             `{"status":"open"}`,
	"session/set_title":          `{"title":"t"}`,
	"auth/status":                `{"state":"authenticated"}`,
	"session/request_permission": `{"outcome":{"outcome":"cancelled"}}`,
	"fs/read_text_file":          `{"content":""}`,
	"terminal/create":            `{"terminalId":"t"}`,
	"terminal/output":            `{"output":"","truncated":false}`,
	"terminal/kill":              `null`,
	"elicitation/create":         `{"action":"cancel"}`,
	"mcp/message":                `{"result":{}}`,
	"_extension":                 `[]`,
}

// RawResult returns a valid result for a request.
func RawResult(method string) string { return cmp.Or(results[method], `{}`) }

// Requests lists the requests that one side handles, and an extension.
func Requests(t testing.TB, side wire.Side) []string {
	t.Helper()
	return RequestsWith(t, acp.ProtocolVersion, side, Params)
}

// RequestsWith is Requests for any version. It fails the test if params lack one of the requests.
func RequestsWith(t testing.TB, version int, side wire.Side, params map[string]string) []string {
	t.Helper()
	all := []string{"_extension"}
	for _, m := range wire.Methods(version) {
		if m.Side&side == 0 || m.Notification {
			continue
		}
		if params[m.Name] == "" {
			t.Errorf("Params lacks %s", m.Name)
		}
		all = append(all, m.Name)
	}
	return all
}
