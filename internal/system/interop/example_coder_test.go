package interop_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/system/chatserver"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// coderEnv is the environment of examples/coder with a model, and a folder for its sessions and for
// the recordings of acp tap.
func coderEnv(model *chatserver.Server, state string) []string {
	return append(os.Environ(), "BASE_URL="+model.URL, "API_KEY=", "MODEL=", "HOME="+state, "XDG_CONFIG_HOME="+state, "APPDATA="+state, "XDG_STATE_HOME="+state)
}

// tappedCoder is the command that runs examples/coder with acp tap in between.
func tappedCoder(t *testing.T) []string {
	return []string{example(t, "acp"), "tap", "--", example(t, "coder")}
}

func requests(model *chatserver.Server) int {
	_, n := model.Faults()
	return n
}

// acpx, with acp tap in between, runs examples/coder through a model's calls: it reads, edits and runs, or does not when it is
// not allowed to.
func TestExampleCoderUnderAcpx(t *testing.T) {
	t.Parallel()
	needShell(t)
	for _, test := range []struct {
		name, flag, prompt string
		code               int
		says               string
		notes              string // what notes.txt holds afterwards
	}{
		{"all", "--approve-all", `read notes.txt, then edit notes.txt: replace "first" with "second", then run cat notes.txt`, 0, "I have read: second line", "second line\n"},
		{"may not run", "--deny-all", "run touch made.txt", 5, "I have read: The person rejected this call.", "first line\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			model := chatserver.Start(t)
			dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
			notes := filepath.Join(dir, "notes.txt")
			require.NoError(t, os.WriteFile(notes, []byte("first line\n"), 0o600))
			got := run(t, dir, coderEnv(model, home), "",
				node(t, "node_modules/acpx/dist/cli.js", "--cwd", dir, "--agent", quoted(tappedCoder(t)), test.flag, "--format", "quiet", "exec", test.prompt)...)
			assert.Equal(t, test.code, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
			assert.NotContains(t, got.stderr, "level=", "the agent has nothing to warn of")
			assert.Contains(t, got.stdout, test.says)
			b, err := os.ReadFile(notes)
			require.NoError(t, err)
			assert.Equal(t, test.notes, string(b))
			assert.NoFileExists(t, filepath.Join(dir, "made.txt"))
			_, wrong := tapRecords(t, home)
			assert.Empty(t, wrong)
			faults, _ := model.Faults()
			assert.Empty(t, faults)
		})
	}
}

// acpx holds a conversation in one session, whose agent it ends after each turn: it cancels one turn
// in a command and one while the model speaks, and loads the session for the next ones.
func TestExampleCoderSessionUnderAcpx(t *testing.T) {
	t.Parallel()
	needShell(t)
	model := chatserver.Start(t)
	dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("first line\n"), 0o600))
	env := coderEnv(model, home)
	command := func(args ...string) []string {
		return node(t, "node_modules/acpx/dist/cli.js", append([]string{"--cwd", dir, "--agent", quoted(tappedCoder(t)), "--approve-all", "--ttl", "1"}, args...)...)
	}
	acpx := func(args ...string) string {
		t.Helper()
		got := run(t, dir, env, "", command(args...)...)
		require.Zero(t, got.code, "%v\nstdout: %s\nstderr: %s", args, got.stdout, got.stderr)
		assert.NotContains(t, got.stderr, "level=", "the agent has nothing to warn of")
		return got.stdout
	}
	cancelled := func(prompt string, reached func() bool) {
		t.Helper()
		waits := command("prompt", prompt)
		turn := exec.CommandContext(t.Context(), waits[0], waits[1:]...)
		turn.Env = env
		var said bytes.Buffer
		turn.Stdout = &said
		require.NoError(t, turn.Start())
		require.Eventually(t, reached, conversationTimeout, 50*time.Millisecond)
		acpx("cancel")
		require.NoError(t, turn.Wait())
		assert.Contains(t, said.String(), "[done] cancelled")
	}
	acpx("sessions", "new")
	assert.Contains(t, acpx("prompt", "append to notes.txt: more"), "I have read: [exit code 0]")
	cancelled("run touch running; exec sleep 60", func() bool { _, err := os.Stat(filepath.Join(dir, "running")); return err == nil })
	before := requests(model)
	cancelled("wait", func() bool { return requests(model) > before })
	require.Eventually(t, func() bool { return model.Aborted() == 1 }, conversationTimeout, 10*time.Millisecond)
	last := acpx("prompt", "read notes.txt")
	assert.Contains(t, last, "session/load")
	assert.Contains(t, last, "first line\nmore")
	_, wrong := tapRecords(t, home)
	assert.Empty(t, wrong)
	faults, _ := model.Faults()
	assert.Empty(t, faults)
}

// coderUnder runs examples/coder under a client of the TypeScript SDK, with acp tap in between, and
// decodes what the client reports. It returns the folder of the session. The model must have seen no
// invalid history, and no message may break a rule.
func coderUnder(t *testing.T, client string, report any) (dir string) {
	t.Helper()
	needShell(t)
	model := chatserver.Start(t)
	dir = pairtest.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), []byte("one\ntwo\nthree\n"), 0o600))
	home := pairtest.TempDir(t)
	got := run(t, dir, coderEnv(model, home), "", append(node(t, client, dir), tappedCoder(t)...)...)
	require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	for line := range strings.Lines(got.stderr) {
		assert.Contains(t, line, "acp: recording to ", "nothing of this is worth a warning")
	}
	_, wrong := tapRecords(t, home)
	assert.Empty(t, wrong)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), report), "%s", got.stdout)
	faults, _ := model.Faults()
	assert.Empty(t, faults)
	return dir
}

// The TypeScript SDK's client of version 1 holds turns with examples/coder, cancels some, and finds
// all of it again in another process.
func TestTypeScriptClientWithExampleCoder(t *testing.T) {
	t.Parallel()
	var report struct {
		Stops, Modes, Asked, AskedLater, Listed, Loaded, Resumed []string
		Mode                                                     string
		Terminals, Left                                          int
	}
	dir := coderUnder(t, "client1.mjs", &report)

	const first = `read notes, then edit notes: replace "two" with "2"`
	assert.Equal(t, []string{"end_turn", "end_turn", "end_turn", "cancelled", "cancelled", "end_turn"}, report.Stops)
	assert.Equal(t, []string{"ask", "auto"}, report.Modes)
	assert.Equal(t, []string{"Edit notes", "cat notes", "Write made", "exec sleep 60", "echo never > made"}, report.Asked)
	assert.Zero(t, report.Terminals, "all are released")
	assert.Equal(t, []string{first}, report.Listed)
	assert.Equal(t, "auto", report.Mode)
	assert.Equal(t, []string{
		"user_message_chunk " + first,
		"agent_message_chunk I do step 1. ", "tool_call Read notes completed", "agent_message_chunk I do step 2. ", "tool_call Edit notes completed",
		"agent_message_chunk I have read: Wrote notes.",
		"user_message_chunk run cat notes", "agent_message_chunk I do step 1. ", "tool_call cat notes completed", "agent_message_chunk I have read: one\n2\nthree\n\n[exit code 0]",
		"user_message_chunk write made: x", "agent_message_chunk I do step 1. ", "tool_call Write made failed",
		"agent_message_chunk I have read: The person rejected this call. Do not try it again in another way; go on without it, or ask what to do.",
		"user_message_chunk run exec sleep 60", "agent_message_chunk I do step 1. ", "tool_call exec sleep 60 failed",
		"user_message_chunk run echo never > made", "agent_message_chunk I do step 1. ", "tool_call echo never > made failed",
		"session_info_update " + first,
	}, report.Loaded)
	assert.NotContains(t, report.Resumed, report.Loaded[0], "resume shows nothing again")
	assert.Empty(t, report.AskedLater, "the mode is the one that was set")
	assert.Zero(t, report.Left)
	text, err := os.ReadFile(filepath.Join(dir, "made"))
	require.NoError(t, err)
	assert.Equal(t, "x", string(text))
}

// The TypeScript SDK's client of version 2 does the same. It checks every message that it gets against
// the schema.
func TestTypeScriptClientOfVersion2WithExampleCoder(t *testing.T) {
	t.Parallel()
	var report struct {
		Stops          [][2]string
		Seen, Replayed []string
		Mode           string
	}
	dir := coderUnder(t, "client2.mjs", &report)
	assert.Equal(t, [][2]string{{"end_turn", "string"}, {"end_turn", "string"}, {"end_turn", "string"}, {"cancelled", "string"}}, report.Stops)
	for _, question := range []string{"ask Edit notes", "ask cat notes", "ask exec sleep 60"} {
		assert.Contains(t, report.Seen, question)
	}
	assert.Equal(t, []string{
		"user_message", "agent_message", "tool_call_update completed", "agent_message",
		"user_message", "agent_message", "tool_call_update completed", "agent_message",
		"user_message", "agent_message", "tool_call_update completed", "agent_message",
		"user_message", "agent_message", "tool_call_update failed",
		"session_info_update", "state_update idle",
	}, story(report.Replayed))
	assert.Equal(t, "auto", report.Mode)
	text, err := os.ReadFile(filepath.Join(dir, "notes"))
	require.NoError(t, err)
	assert.Equal(t, "one\n2\nthree\n", string(text))
}
