package interop_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The TypeScript SDK's client of version 2 drives an agent of version 1, through the router
// and the adapter. It checks every message that it gets against the schema.
func TestTypeScriptClientOfVersion2(t *testing.T) {
	dir := scratch(t)
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

	assert.Equal(t, [][2]string{{"end_turn", "string"}, {"end_turn", "string"}, {"end_turn", "string"}}, report.Stops)
	assert.Equal(t, []string{
		"user_message", "state_update running", "session_info_update", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update in_progress", "state_update requires_action", "ask Edit notes", "state_update running",
		"tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update in_progress", "state_update requires_action", "ask Run cat notes", "state_update running",
		"tool_call_update completed", "agent_message_chunk", "state_update idle",
	}, story(report.Seen))
	assert.Equal(t, []string{
		"user_message", "tool_call_update completed", "agent_message", "user_message", "tool_call_update completed", "agent_message",
		"user_message", "tool_call_update completed", "agent_message", "state_update idle",
	}, story(report.Replayed))
	assert.Equal(t, []string{"read notes"}, report.Listed)
	assert.Equal(t, "auto", report.Mode)
	assert.Equal(t, map[string]int{"session/prompt": -32002, "tool_call/cancel": -32602, "terminal/cancel": -32602, "session/resume": -32002}, report.Errors)

	text, err := os.ReadFile(filepath.Join(dir, "notes"))
	require.NoError(t, err)
	assert.Equal(t, "one\n2\nthree\n", string(text))
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
