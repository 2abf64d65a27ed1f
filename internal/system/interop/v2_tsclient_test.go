package interop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The client of version 2 of the TypeScript SDK holds its whole conversation with our
// agent, by itself and behind our router, and, so that a failure can be told from a bad
// test, with the TypeScript SDK's own. It checks every message against the schema.
func TestTypeScriptClientWithAgentOfVersion2(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role    string
		command func(*testing.T) []string
		checks  int
	}{
		"our agent":                 {"agent2", self, 36},
		"our router":                {"router", self, 36},
		"its own agent":             {"", func(t *testing.T) []string { return node(t, "v2/agent.mjs") }, 36},
		"our agent over HTTP":       {"", func(t *testing.T) []string { return []string{ourServerOf(t, "agent2")} }, 35},
		"our router over HTTP":      {"", func(t *testing.T) []string { return []string{ourServerOf(t, "router")} }, 35},
		"our router over WebSocket": {"", func(t *testing.T) []string { return []string{webSocket(ourServerOf(t, "router"))} }, 35},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, got := driven(t, "v2/client.mjs", c.role, c.command(t)...)
			assert.Empty(t, got.stderr, "nothing of this is worth a warning")
			assert.Len(t, r.Checks, c.checks, "a check that was not made proves nothing: %q", r.Checks)
			if assert.NotNil(t, r.Exit.Code, "killed by %v", r.Exit.Signal) {
				assert.Zero(t, *r.Exit.Code, "exit code after the end of input")
			}
			told := map[string]bool{}
			for _, e := range r.Agent {
				told[e.What] = true
			}
			for _, method := range []string{
				"initialize", "auth/login", "session/new", "session/resume", "session/list", "session/close", "session/delete",
				"session/set_config_option", "session/prompt", "session/cancel", "tool_call/cancel", "terminal/cancel", "_interop/note",
			} {
				assert.True(t, told[method], "the agent was not told of %s", method)
			}
		})
	}
}
