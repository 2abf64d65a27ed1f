package hardening_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
)

// Messages that clients of version 2 send, and the responses of an agent to them.
func TestOdditiesOfClientsOfVersion2(t *testing.T) {
	for _, tt := range []struct{ name, method, params, want string }{
		{"no servers", "session/new", `{"cwd":"/"}`, "ok"},
		{"null servers", "session/new", `{"cwd":"/","mcpServers":null,"additionalDirectories":null}`, "ok"},
		{"members of version 1", "session/new", `{"cwd":"/","mcpServers":[],"modes":{},"future":{}}`, "ok"},
		{"a server without a type", "session/new", `{"cwd":"/","mcpServers":[{"name":"n","command":"/c","args":[],"env":[]}]}`, "-32602"},
		{"a server of an unknown type", "session/new", `{"cwd":"/","mcpServers":[{"type":"sse","name":"n","url":"http://x"}]}`, "-32602"},
		{"a server of a type of its own", "session/new", `{"cwd":"/","mcpServers":[{"type":"_pipe","name":"n"}]}`, "ok"},
		{"a relative folder", "session/new", `{"cwd":"."}`, "-32602"},
		{"no params", "session/list", ``, "ok"},
		{"null params", "session/list", `null`, "ok"},
		{"an empty prompt", "session/prompt", `{"sessionId":"s","prompt":[]}`, "-32602"},
		{"content of an unknown kind", "session/prompt", `{"sessionId":"s","prompt":[{"type":"hologram","depth":3}]}`, "ok"},
		{"content without a kind", "session/prompt", `{"sessionId":"s","prompt":[{"text":"x"}]}`, "-32602"},
		{"a link with nulls", "session/prompt", `{"sessionId":"s","prompt":[{"type":"resource_link","name":"n","uri":"file:///x","mimeType":null,"size":null,"icons":null}]}`, "ok"},
		{"600 KB", "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"` + strings.Repeat(`x\n`, 300_000) + `"}]}`, "ok"},
		{"a replay of an unknown kind", "session/resume", `{"sessionId":"s","cwd":"/","replayFrom":{"type":"middle"}}`, "ok"},
		{"a replay without a kind", "session/resume", `{"sessionId":"s","cwd":"/","replayFrom":{}}`, "-32602"},
		{"methods of version 1", "session/load", `{"sessionId":"s","cwd":"/","mcpServers":[]}`, "-32601"},
		{"modes", "session/set_mode", `{"sessionId":"s","modeId":"m"}`, "-32601"},
		{"a sign-in of version 1", "authenticate", `{"methodId":"m"}`, "-32601"},
		{"an option without a type", "session/set_config_option", `{"sessionId":"s","configId":"c","value":"v"}`, "-32601"}, // this agent has none
		{"cancel of a tool call", "tool_call/cancel", `{"sessionId":"s","toolCallId":"t"}`, "-32602"},
		{"cancel of a terminal", "terminal/cancel", `{"sessionId":"s","terminalId":"t"}`, "-32602"},
		{"unstable methods", "session/fork", `{"sessionId":"s","cwd":"/"}`, "-32601"},
		{"methods of clients", "session/request_permission", `{}`, "-32601"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prompts := make(chan *acp2.PromptRequest, 1)
			a := &testAgent2{onPrompt: func(_ context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
				prompts <- req
				return &acp2.PromptResponse{MessageID: "m"}, nil
			}}
			_, p := startAgent2(t, a, nil, nil)
			params := ""
			if tt.params != "" {
				params = `,"params":` + tt.params
			}
			p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `"` + params + `}`)
			assert.Equal(t, []string{tt.want + " 1"}, brief(p.said(1)))
			if tt.method == "session/prompt" && tt.want == "ok" {
				sent, got := map[string]any{}, map[string]any{}
				raw, err := json.Marshal(<-prompts)
				assert.NoError(t, err)
				assert.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(tt.params, `,"mimeType":null,"size":null`, ""), `,"icons":null`, "")), &sent))
				assert.NoError(t, json.Unmarshal(raw, &got))
				assert.Equal(t, sent, got)
			}
		})
	}
}

// Notifications of an unknown kind, and those of version 1, harm nothing.
func TestNotificationsToAnAgentOfVersion2(t *testing.T) {
	_, p := startAgent2(t, &testAgent2{}, nil, nil)
	for _, method := range []string{"_own", "session/update", "session/future", "$/future", "session/prompt"} {
		p.SendLines(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}}`, method))
	}
	assert.Empty(t, p.echo())
}
