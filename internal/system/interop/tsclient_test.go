package interop_test

import (
	"cmp"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
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
// command starts, in a role of TestMain, or the one at a URL.
func driven(t *testing.T, script, role string, agent ...string) (report, outcome) {
	t.Helper()
	dir := pairtest.TempDir(t)
	got := run(t, dir, selfEnv(role), "", append(node(t, script, dir), agent...)...)
	var r report
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r), "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	if r.Failed != nil {
		t.Fatalf("check %q failed: %s\ndata: %v\nstderr: %s", r.Failed.Check, r.Failed.Message, r.Failed.Data, got.stderr)
	}
	return r, got
}

// The clients of the TypeScript SDK hold their whole conversations with our agents, by themselves and
// behind our router, and, so that a failure can be told from a bad test, with the TypeScript SDK's own.
// The client of version 2 checks every message against the schema.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	needShell(t)
	for script, c := range map[string]struct {
		own, role string
		checks    int // one less over the network
		told      []string
	}{
		"client.mjs": {"agent.mjs", "agent", 26, []string{
			"initialize", "authenticate", "session/new", "session/load", "session/resume", "session/list", "session/close",
			"session/delete", "session/set_mode", "session/set_config_option", "session/prompt", "session/cancel", "_interop/note",
		}},
		"v2/client.mjs": {"v2/agent.mjs", "agent2", 36, []string{
			"initialize", "auth/login", "session/new", "session/resume", "session/list", "session/close", "session/delete",
			"session/set_config_option", "session/prompt", "session/cancel", "tool_call/cancel", "terminal/cancel", "_interop/note",
		}},
	} {
		for _, role := range []string{c.role, "router", ""} {
			for _, transport := range []string{"stdio", "HTTP", "WebSocket"} {
				t.Run(script+" with "+cmp.Or(role, "its own agent")+" over "+transport, func(t *testing.T) {
					t.Parallel()
					checks, agent := c.checks, self(t)
					if role == "" {
						agent = node(t, c.own)
					}
					if transport != "stdio" {
						checks--
						url := ""
						if role == "" {
							url, _ = theirMortalServer(t, c.own)
						} else {
							url = ourServer(t, role)
						}
						if transport == "WebSocket" {
							url = webSocket(url)
						}
						agent = []string{url}
					}
					r, got := driven(t, script, role, agent...)
					assert.Empty(t, got.stderr, "nothing of this is worth a warning")
					assert.Len(t, r.Checks, checks, "a check that was not made proves nothing: %q", r.Checks)
					if assert.NotNil(t, r.Exit.Code, "killed by %v", r.Exit.Signal) {
						assert.Zero(t, *r.Exit.Code, "exit code after the end of input")
					}
					var told []string
					for _, e := range r.Agent {
						told = append(told, e.What)
					}
					assert.Subset(t, told, c.told, "what the agent was told")
				})
			}
		}
	}
}
