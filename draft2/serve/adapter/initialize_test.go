package adapter_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

func TestCapabilities(t *testing.T) {
	for _, tt := range []struct {
		name   string
		res    *acp.InitializeResponse
		params string
		want   string
		seen   string
	}{
		{"none", &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{}}, `{"protocolVersion":2,"info":{"name":"c","version":"1","title":"C"}}`,
			`{"protocolVersion":2,"info":{"name":"unknown","version":"unknown"},"capabilities":{"session":{"prompt":{},"mcp":{"stdio":{}}}}}`,
			`{"protocolVersion":1,"clientInfo":{"name":"c","version":"1","title":"C"},"clientCapabilities":{"fs":{},"session":{"compaction":{},"configOptions":{"boolean":{}},"cursors":{},"notices":{}},"subagents":{},"plan":{},"auth":{}}}`},
		{"all", &acp.InitializeResponse{
			AgentInfo: &acp.Implementation{Name: "a", Version: "2", Title: "A"}, Meta: acp.Meta{"m": 1},
			AgentCapabilities: &acp.AgentCapabilities{
				PromptCapabilities: &acp.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
				MCPCapabilities:    &acp.MCPCapabilities{HTTP: true, SSE: true},
			},
			AuthMethods: []acp.AuthMethod{
				&acp.AuthMethodAgent{ID: "a", Name: "A", Description: "d"},
				&acp.AuthMethodTerminal{ID: "t", Name: "T", Args: []string{"-l"}, Env: map[string]string{"B": "2", "A": "1"}},
				&acp.UnknownAuthMethod{Type: "env_var", Raw: json.RawMessage(`{"type":"env_var","id":"e","name":"E","vars":[]}`)},
			},
		}, `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{"auth":{"terminal":{}},"elicitation":{"form":{}},"_meta":{"x":1}},"_meta":{"y":2}}`,
			`{"protocolVersion":2,"info":{"name":"a","version":"2","title":"A"},"_meta":{"m":1},` +
				`"capabilities":{"session":{"prompt":{"image":{},"audio":{},"embeddedContext":{}},"mcp":{"stdio":{},"http":{}}}},` +
				`"authMethods":[{"type":"agent","methodId":"a","name":"A","description":"d"},` +
				`{"type":"terminal","methodId":"t","name":"T","args":["-l"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},` +
				`{"type":"env_var","methodId":"e","name":"E","vars":[]}]}`,
			`{"protocolVersion":1,"clientInfo":{"name":"c","version":"1"},"_meta":{"y":2},"clientCapabilities":{"fs":{},"session":{"compaction":{},"configOptions":{"boolean":{}},"cursors":{},"notices":{}},` +
				`"subagents":{},"plan":{},"auth":{"terminal":true},"elicitation":{"form":{}},"_meta":{"x":1}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &testAgent{info: tt.res}
				p, end := adapted(t, a, a)
				for id := range 2 { // initialize may be repeated
					p.call(id, "initialize", tt.params)
					p.want(result(id, tt.want))
					raw, err := json.Marshal(a.initialized)
					require.NoError(t, err)
					assert.JSONEq(t, tt.seen, string(raw))
				}
				end()
			})
		})
	}
}

// An agent that advertises a method it does not have cannot be served.
func TestAgentThatCannotBeServed(t *testing.T) {
	for name, tt := range map[string]struct {
		newV1 func(*agent.Conn) acp.Agent
		want  string // part of the log
	}{
		"a capability without its method": {func(*agent.Conn) acp.Agent {
			return &testAgent{caps: &acp.AgentCapabilities{LoadSession: true}}
		}, "does not implement acp.SessionLoader"},
		"no agent": {func(*agent.Conn) acp.Agent { return nil }, "newAgent returned nil"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				logger := slog.New(slog.NewTextHandler(&log, nil))
				over, p := rawpeer.Pipe(t)
				served := make(chan error, 1)
				go func() { // ends with the connection
					served <- agent2.Serve(t.Context(), over, adapter.FromV1(tt.newV1, &adapter.Options{Logger: logger}), &agent2.Options{Logger: logger})
				}()
				p.Call("1", "initialize", initializeParams)
				p.ExpectJSON(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}}}`)
				p.Close()
				require.NoError(t, <-served)
				assert.Contains(t, log.String(), tt.want)
			})
		})
	}
	near, far := stream.Pipe()
	defer near.Close()
	assert.ErrorContains(t, agent2.Serve(t.Context(), far, adapter.FromV1(nil, nil), nil), "newAgent returned nil")
}
