package interop_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
// command starts, in a role of main_test.go, or the one at a URL.
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

// The TypeScript SDK's client of version 2 drives an agent of version 1, through the router
// and the adapter. It checks every message that it gets against the schema.
func TestTypeScriptClientOfVersion2(t *testing.T) {
	dir := pairtest.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), []byte("one\ntwo\nthree\n"), 0o600))
	command := append(node(t, "client2.mjs", dir), example(t, "agent"), "-state", t.TempDir())
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	var report struct {
		Stops                  [][2]string
		Seen, Replayed, Listed []string
		Mode                   string
		Errors                 map[string]int
	}
	require.NoError(t, json.Unmarshal(out, &report), "%s", out)

	assert.Equal(t, [][2]string{{"end_turn", "string"}, {"end_turn", "string"}, {"end_turn", "string"}, {"cancelled", "string"}}, report.Stops)
	assert.Equal(t, []string{
		"user_message", "state_update running", "session_info_update", "tool_call_update pending", "tool_call_update in_progress",
		"tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update pending", "state_update requires_action", "ask Edit notes",
		"state_update running", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update pending", "state_update requires_action", "ask cat notes",
		"state_update running", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update pending", "state_update requires_action", "ask exec sleep 60",
		"state_update running", "tool_call_update in_progress", "tool_call_update", "tool_call_update failed", "state_update idle",
	}, story(report.Seen))
	assert.Equal(t, []string{
		"user_message", "tool_call_update completed", "agent_message", "user_message", "tool_call_update completed", "agent_message",
		"user_message", "tool_call_update completed", "agent_message", "user_message", "tool_call_update failed",
		"session_info_update", "state_update idle",
	}, story(report.Replayed))
	assert.Equal(t, []string{"read notes"}, report.Listed)
	assert.Equal(t, "auto", report.Mode)
	assert.Equal(t, map[string]int{"session/prompt": -32002, "tool_call/cancel": -32602, "terminal/cancel": -32602, "session/resume": -32002}, report.Errors)

	text, err := os.ReadFile(filepath.Join(dir, "notes"))
	require.NoError(t, err)
	assert.Equal(t, "one\n2\nthree\n", string(text))
}

// The TypeScript SDK's client of version 1, with files and terminals, holds turns with the example
// agent, cancels some, and finds all of it again in another process.
func TestTypeScriptClientOfVersion1(t *testing.T) {
	t.Parallel()
	needShell(t)
	dir := pairtest.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), []byte("one\ntwo\nthree\n"), 0o600))
	got := run(t, dir, os.Environ(), "", append(node(t, "client1.mjs", dir), example(t, "agent"), "-state", t.TempDir())...)
	require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	assert.Empty(t, got.stderr, "nothing of this is worth a warning")
	var report struct {
		Stops, Modes, Asked, AskedLater, Listed, Live, Loaded, Resumed []string
		Mode                                                           string
		Terminals, Left                                                int
		Errors                                                         map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report), "%s", got.stdout)

	const first = `read notes, then edit notes: replace "two" with "2"`
	assert.Equal(t, []string{"end_turn", "end_turn", "end_turn", "cancelled", "cancelled", "end_turn"}, report.Stops)
	assert.Equal(t, []string{"ask", "auto"}, report.Modes)
	assert.Equal(t, []string{"Edit notes", "cat notes", "Write made", "exec sleep 60", "echo never > made"}, report.Asked)
	assert.Zero(t, report.Terminals, "all are released")
	for _, update := range []string{"plan in_progress,pending", "tool_call Read notes pending", "plan completed,completed", "config_option_update"} {
		assert.Contains(t, report.Live, update)
	}
	assert.Equal(t, []string{first}, report.Listed)
	assert.Equal(t, "auto", report.Mode)
	assert.Equal(t, []string{
		"user_message_chunk " + first, "agent_thought_chunk That is more than one thing to do, so I make a plan.", "plan completed,completed",
		"tool_call Read notes completed", "agent_message_chunk notes has 3 lines.\n```\none\ntwo\nthree\n```\n",
		"tool_call Edit notes completed", "agent_message_chunk Wrote notes.\n", "agent_message_chunk Everything is done.\n",
		"user_message_chunk run cat notes", "tool_call cat notes completed", "agent_message_chunk `cat notes` printed:\n```\none\n2\nthree\n```\n",
		"user_message_chunk write made: x", "tool_call Write made failed", "agent_message_chunk Write made did not work: you did not allow it.\n",
		"user_message_chunk run exec sleep 60", "tool_call exec sleep 60 failed",
		"user_message_chunk run echo never > made", "tool_call echo never > made failed",
		"session_info_update " + first,
	}, report.Loaded)
	assert.NotContains(t, report.Resumed, report.Loaded[0], "resume shows nothing again")
	assert.Empty(t, report.AskedLater, "the mode is the one that was set")
	assert.Zero(t, report.Left)
	assert.Equal(t, map[string]int{"session/load": -32002, "session/resume": -32002}, report.Errors)
	text, err := os.ReadFile(filepath.Join(dir, "made"))
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
}

// story leaves out repetitions, and the commands, which the agent sends when it has
// responded.
func story(updates []string) []string {
	var out []string
	for _, u := range updates {
		if u != "available_commands_update" && (len(out) == 0 || out[len(out)-1] != u) {
			out = append(out, u)
		}
	}
	return out
}
