package agent_test

import (
	"testing"

	"github.com/acpkit/go-sdk/acp/v2"
)

// A client that gives a session MCP servers which the agent cannot use learns it: no session
// begins without them.
func TestMCPServers(t *testing.T) {
	r, end := connect(t, &scripted{mcp: &acp.MCPCapabilities{Stdio: &acp.MCPStdioCapabilities{}}})
	r.Call("0", acp.MethodInitialize, `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`)
	r.Next()
	const (
		one    = `{"type":"stdio","name":"one","command":"/bin/one"}`
		web    = `{"type":"http","name":"web","url":"http://localhost"}`
		custom = `{"type":"_own","name":"custom"}`
	)
	for servers, want := range map[string]string{
		``:                 ``,
		one:                ``,
		one + `,` + custom: ``,
		web:                `the agent did not advertise servers of type http`,
		`{"type":"sse","name":"old","url":"http://localhost"}`: `the agent did not advertise servers of type sse`,
		one + `,` + one:                       `two servers have the same name`,
		one + `,{"type":"_own","name":"one"}`: `two servers have the same name`,
		one + `,{"type":"stdio","name":"two","command":"/bin/one"},` + custom: ``,
	} {
		for method, params := range map[string]string{acp.MethodSessionNew: `{"cwd":"/"`, acp.MethodSessionResume: `{"sessionId":"s1","cwd":"/"`} {
			r.Call("1", method, params+`,"mcpServers":[`+servers+`]}`)
			m := r.Next()
			if m.Method == acp.MethodSessionUpdate { // the state of a resumed session
				m = r.Next()
			}
			switch {
			case want == "" && m.Error != nil, want != "" && (m.Error == nil || m.Error.Code != -32602 || m.Error.Message != "Invalid params: mcpServers: "+want):
				t.Errorf("%s with %s: %s; want %q", method, servers, m.Raw, want)
			}
		}
	}
	end()
}
