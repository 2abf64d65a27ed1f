package interop_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// acpx runs the project's example agent through its plain requests: it reads, edits
// and runs, or does not when it is not allowed to.
func TestExampleAgentUnderAcpx(t *testing.T) {
	t.Parallel()
	needShell(t)
	for _, test := range []struct {
		name, flag, prompt string
		code               int
		says               []string
		notes              string // what notes.txt holds afterwards
	}{
		{"reads", "--approve-all", "read notes.txt", 0, []string{"first line"}, "first line\n"},
		{"edits", "--approve-all", `edit notes.txt: replace "first" with "second"`, 0, nil, "second line\n"},
		{"runs", "--approve-all", "run wc -l notes.txt", 0, []string{"1 notes.txt"}, "first line\n"},
		{"plans", "--approve-all", `plan: read notes.txt, then append to notes.txt: more, then run cat notes.txt`, 0, []string{"more"}, "first line\nmore\n"},
		{"may not read", "--deny-all", `edit notes.txt: replace "first" with "second"`, 0, []string{"did not work"}, "first line\n"},
		{"may not edit", "--approve-reads", `edit notes.txt: replace "first" with "second"`, 5, nil, "first line\n"},
		{"may not run", "--deny-all", "run touch made.txt", 5, nil, "first line\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
			notes := filepath.Join(dir, "notes.txt")
			require.NoError(t, os.WriteFile(notes, []byte("first line\n"), 0o600))
			agent := quoted([]string{example(t, "agent"), "-state", home})
			got := run(t, dir, append(os.Environ(), "HOME="+home), "",
				node(t, "node_modules/acpx/dist/cli.js", "--cwd", dir, "--agent", agent, test.flag, "--format", "quiet", "exec", test.prompt)...)
			assert.Equal(t, test.code, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
			assert.NotContains(t, got.stderr, "level=", "the agent has nothing to warn of")
			for _, text := range test.says {
				assert.Contains(t, got.stdout, text)
			}
			b, err := os.ReadFile(notes)
			require.NoError(t, err)
			assert.Equal(t, test.notes, string(b))
			assert.NoFileExists(t, filepath.Join(dir, "made.txt"))
		})
	}
}

// acpx holds a conversation in one session, whose agent it ends after each turn: it loads the session
// for the next one, and cancels one.
func TestExampleAgentSessionUnderAcpx(t *testing.T) {
	t.Parallel()
	needShell(t)
	dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("first line\n"), 0o600))
	agent := quoted([]string{example(t, "agent"), "-state", home})
	env := append(os.Environ(), "HOME="+home)
	command := func(args ...string) []string {
		return node(t, "node_modules/acpx/dist/cli.js", append([]string{"--cwd", dir, "--agent", agent, "--approve-all", "--ttl", "1"}, args...)...)
	}
	acpx := func(args ...string) string {
		t.Helper()
		got := run(t, dir, env, "", command(args...)...)
		require.Zero(t, got.code, "%v\nstdout: %s\nstderr: %s", args, got.stdout, got.stderr)
		assert.NotContains(t, got.stderr, "level=", "the agent has nothing to warn of")
		return got.stdout
	}
	acpx("sessions", "new")
	assert.Contains(t, acpx("prompt", "append to notes.txt: more"), "Wrote notes.txt.")
	waits := command("prompt", "run `touch running; exec sleep 60`")
	turn := exec.CommandContext(t.Context(), waits[0], waits[1:]...)
	turn.Env = env
	var said bytes.Buffer
	turn.Stdout = &said
	require.NoError(t, turn.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "running")); return err == nil }, conversationTimeout, 50*time.Millisecond)
	acpx("cancel")
	require.NoError(t, turn.Wait())
	assert.Contains(t, said.String(), "[done] cancelled")
	third := acpx("prompt", "read notes.txt")
	assert.Contains(t, third, "session/load")
	assert.Contains(t, third, "notes.txt has 2 lines.")
}

// The example client holds a turn with an agent on the TypeScript SDK, and records it.
func TestExampleClient(t *testing.T) {
	t.Parallel()
	dir := pairtest.TempDir(t)
	record := filepath.Join(t.TempDir(), "record.jsonl")
	command := append([]string{example(t, "chat"), "-prompt", "Hello, you", "-yes", "-dir", dir, "-record", record, "--"}, node(t, "agent.mjs")...)
	got := run(t, dir, os.Environ(), "", command...)
	require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	assert.Contains(t, got.stdout, "selected id-allow_once")
	b, err := os.ReadFile(filepath.Join(dir, "file.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\nthree\nfour\n", string(b))
	recorded, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Contains(t, string(recorded), "session/prompt")
}
