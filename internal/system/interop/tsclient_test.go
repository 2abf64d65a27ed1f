package interop_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// report is what peers/client.mjs prints.
type report struct {
	Checks []string
	Failed *struct {
		Check, Message string
		Data           any
	}
	Agent []entry
	Exit  struct {
		Code   *int
		Signal *string
	}
}

// driven is the report of one of the peers' clients, which drives an agent: the one that the
// command starts, in a role of main_test.go, or the one at a URL.
func driven(t *testing.T, script, role string, agent ...string) (report, outcome) {
	t.Helper()
	dir := scratch(t)
	got := run(t, dir, selfEnv(role), "", append(node(t, script, dir), agent...)...)
	var r report
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r), "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	if r.Failed != nil {
		t.Fatalf("check %q failed: %s\ndata: %v\nstderr: %s", r.Failed.Check, r.Failed.Message, r.Failed.Data, got.stderr)
	}
	return r, got
}

// The client of the TypeScript SDK holds its whole conversation with our agent, and,
// so that a failure can be told from a bad test, with the TypeScript SDK's own.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	needShell(t)
	for name, c := range map[string]struct {
		role    string
		command []string
	}{"our agent": {"agent", self(t)}, "our router": {"router", self(t)}, "its own agent": {"", node(t, "agent.mjs")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, got := driven(t, "client.mjs", c.role, c.command...)
			assert.Empty(t, got.stderr, "nothing of this is worth a warning")
			assert.Len(t, r.Checks, 26, "a check that was not made proves nothing: %q", r.Checks)
			if assert.NotNil(t, r.Exit.Code, "killed by %v", r.Exit.Signal) {
				assert.Zero(t, *r.Exit.Code, "exit code after the end of input")
			}
			told := map[string]bool{}
			for _, e := range r.Agent {
				told[e.What] = true
			}
			for _, method := range []string{
				"initialize", "authenticate", "session/new", "session/load", "session/resume", "session/list", "session/close",
				"session/delete", "session/set_mode", "session/set_config_option", "session/prompt", "session/cancel", "_interop/note",
			} {
				assert.True(t, told[method], "the agent was not told of %s", method)
			}
		})
	}
}
