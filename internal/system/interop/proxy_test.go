package interop_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Agents in use send relative paths and empty ids here and there; a client takes them.
// So does one behind a proxy: the rules for what this side sends are for what its own
// program says, not for what it passes on.
func TestProxyIsNoStricterThanAClient(t *testing.T) {
	s := loadSchema(t, "v1")
	for name, lines := range map[string][]string{
		"update": {
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit",` +
				`"content":[{"type":"diff","path":"a.txt","newText":"x"}],"locations":[{"path":"a.txt"}]}}}`,
		},
		"request": {
			`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"a.txt"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReplay(t, s, false, 1)
				talk := []recorded{
					{Dir: "send", Raw: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`},
					{Dir: "recv", Raw: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`},
				}
				for _, line := range lines {
					talk = append(talk, recorded{Dir: "recv", Raw: line})
				}
				r.run(talk)
				require.False(t, t.Failed())
				assert.Equal(t, len(talk), r.passed)
			})
		})
	}
}
