package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// converse runs chat and returns what is on the screen. The agent is the example unless s names
// another one.
func converse(t *testing.T, s settings, typed string) string {
	t.Helper()
	if s.agent == nil {
		agent := exampleAgent(t)
		s.agent = []string{agent, "-state", t.TempDir()}
	}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	var screen bytes.Buffer
	require.NoError(t, run(t.Context(), s, &console{in: strings.NewReader(typed), out: &screen, err: &screen}))
	return screen.String()
}

// A conversation uses the files and terminals of chat, and can be continued.
func TestConversation(t *testing.T) {
	agent := exampleAgent(t)
	dir, state := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "hello\n")
	s := settings{dir: dir, yes: true, agent: []string{agent, "-state", state}}
	screen := converse(t, s, ":mode auto\n:set\nread a.txt, then run `echo from the shell`\nwrite b.txt: x\n:sessions\n")
	for _, want := range []string{"▸ Read a.txt", "hello", "✓ Read a.txt", "▸ Run echo from the shell", "from the shell", "✓ Write b.txt", "Everything is done.", "(end turn)", "  1  sess_"} {
		assert.Contains(t, screen, want)
	}
	written, err := os.ReadFile(filepath.Join(dir, "b.txt"))
	require.NoError(t, err)
	assert.Equal(t, "x", strings.TrimSpace(string(written)))

	_, id, _ := strings.Cut(screen, "  1  ")
	s.load, s.prompt = strings.Fields(id)[0], "help"
	screen = converse(t, s, "")
	assert.Contains(t, screen, "> write b.txt: x", "the prompts of the session are shown again")
	assert.Contains(t, screen, "I carry out plain requests")
}

// -system reaches an agent that takes it.
func TestSystemPrompt(t *testing.T) {
	s := lock(t, lockedAgent{Methods: "[]", Applies: true})
	s.system, s.prompt = ", and be brief", "x"
	assert.Contains(t, converse(t, s, ""), "welcome in, and be brief")
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	write(t, filepath.Join(dir, "b.txt"), "two\n")
	for prompt, want := range map[string]string{
		`search "two"`:               `"two" occurs on 2 lines`,
		`search "two" in a.txt`:      `"two" occurs on 1 line`,
		`search "three"`:             `"three" does not occur in the project`,
		`search "two" in missing.md`: "did not work",
	} {
		assert.Contains(t, converse(t, settings{dir: dir, yes: true, prompt: prompt}, ""), want, prompt)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "short.txt"), "one")
	write(t, filepath.Join(dir, "long.txt"), strings.Repeat("line\n", 11))
	for prompt, wants := range map[string][]string{
		"read short.txt":                        {"short.txt has 1 line.", "one"},
		"read long.txt":                         {"long.txt has 11 lines.", "... and 1 line more"},
		"read long.txt from line 3 for 2 lines": {"2 lines of long.txt, from line 3:"},
	} {
		got := converse(t, settings{dir: dir, yes: true, prompt: prompt}, "")
		for _, want := range wants {
			assert.Contains(t, got, want, prompt)
		}
	}
}

func TestPermission(t *testing.T) {
	tests := map[string]struct {
		settings settings
		typed    string
		written  bool
	}{
		"flag yes":                       {settings{yes: true}, "write a.txt: x\n", true},
		"flag no":                        {settings{no: true}, "write a.txt: x\n", false},
		"typed yes":                      {settings{}, "write a.txt: x\n1\n", true},
		"typed no":                       {settings{}, "write a.txt: x\n3\n", false},
		"typed nonsense":                 {settings{}, "write a.txt: x\nmaybe\n9\n1\n", true},
		"nobody to ask":                  {settings{}, "write a.txt: x\n", false},
		"asked once for all":             {settings{}, "write b.txt: y\n2\nwrite a.txt: x\n1\n", true},
		"a command is asked about once":  {settings{}, "run echo x>a.txt\n1\n", true},
		"a refused command does not run": {settings{}, "run echo x>a.txt\n3\n", false},
		"an agent that asks no more is asked about": {settings{}, "write b.txt: y\n2\nwrite a.txt: x\n3\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.settings.dir = t.TempDir()
			converse(t, tt.settings, tt.typed)
			_, err := os.Stat(filepath.Join(tt.settings.dir, "a.txt"))
			assert.Equal(t, tt.written, err == nil)
		})
	}
}

// The file has the conversation, and nobody else reads it, also if they could read what it had before.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	write(t, path, "of before")
	require.NoError(t, os.Chmod(path, 0o644))
	converse(t, settings{record: path, prompt: "help"}, "")
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Zero(t, info.Mode().Perm()&0o077)
	}
	directions := map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line struct {
			T        float64
			Dir, Raw string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		assert.True(t, json.Valid([]byte(line.Raw)), line.Raw)
		directions[line.Dir]++
	}
	assert.Equal(t, 3, directions["send"], "initialize, session/new and session/prompt")
	assert.Greater(t, directions["recv"], 3)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// The output of a command is shown without delay, in whole lines, and without the
// characters that control a terminal.
func TestOutput(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, false)
	s.output("t", []byte("one\ntw"))
	assert.Equal(t, "  │ one\n", out.String())
	s.output("t", []byte("o\x1b[2J\nend"))
	s.endTurn()
	assert.Equal(t, "  │ one\n  │ two\n  │ end\n", out.String())
	out.Reset()
	s.output("t", bytes.Repeat([]byte("x"), longestLine))
	assert.NotEmpty(t, out.String(), "a line without an end is not kept for ever")
}

// The first Ctrl-C ends the turn, a second within 2 s the program; without a turn the first
// does.
func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		i := &interrupts{end: func() { ended++ }}
		assert.False(t, i.handle(), "at the prompt it ends the program")
		assert.Equal(t, 1, ended, "the terminal is restored before")

		turn, done := i.turn(context.Background())
		assert.True(t, i.handle())
		assert.ErrorIs(t, turn.Err(), context.Canceled)
		time.Sleep(twice) // the agent takes its time
		assert.True(t, i.handle(), "a late one only asks again")
		time.Sleep(twice - 1)
		assert.False(t, i.handle(), "the second within 2 s")
		assert.Equal(t, 2, ended)
		done()

		time.Sleep(twice)
		next, done := i.turn(context.Background())
		assert.NoError(t, next.Err())
		assert.True(t, i.handle(), "of the next turn")
		assert.ErrorIs(t, next.Err(), context.Canceled)
		done()
		assert.False(t, i.handle())
	})
}

// The null device is not a terminal, even as the standard input, which has another name.
func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	null, err := syscall.Open(os.DevNull, os.O_RDONLY, 0)
	require.NoError(t, err)
	stdin := os.NewFile(uintptr(null), "stdin")
	defer stdin.Close()
	assert.Nil(t, openTTY(stdin))
}
