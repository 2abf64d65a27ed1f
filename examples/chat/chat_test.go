package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// say runs a conversation with the example agent and returns what is on the screen.
func say(t *testing.T, s settings, typed string) string {
	t.Helper()
	agent, err := example()
	require.NoError(t, err)
	s.agent = []string{agent, "-state", t.TempDir()}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	var screen bytes.Buffer
	require.NoError(t, run(t.Context(), s, &console{in: strings.NewReader(typed), out: &screen, err: &screen}))
	return screen.String()
}

func TestOneTurn(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "hello\n")
	got := say(t, settings{dir: dir, yes: true, prompt: "read a.txt, then run `echo from the shell`"}, "")
	for _, want := range []string{"▸ Read a.txt", "hello", "▸ Run echo from the shell", "from the shell", "✓ Read a.txt", "Everything is done.", "(end turn)"} {
		assert.Contains(t, got, want)
	}
}

// The same in each version of the protocol. In version 1 the agent uses the files of chat.
func TestEachVersion(t *testing.T) {
	for protocol, version := range map[string]string{"1": `"protocolVersion":1`, "2": `"protocolVersion":2`, "newest": `"protocolVersion":2`} {
		t.Run(protocol, func(t *testing.T) {
			agent, err := example()
			require.NoError(t, err)
			dir, state := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, "a.txt"), "hello\n")
			var screen bytes.Buffer
			s := settings{dir: dir, yes: true, protocol: protocol, agent: []string{agent, "-state", state}, record: filepath.Join(t.TempDir(), "talk")}
			typed := ":mode auto\n:set\nread a.txt, then run `echo from the shell`\nwrite b.txt: x\n:sessions\n"
			require.NoError(t, run(t.Context(), s, &console{in: strings.NewReader(typed), out: &screen, err: &screen}))
			for _, want := range []string{"▸ Read a.txt", "hello", "from the shell", "✓ Write b.txt", "Everything is done.", "(end turn)", "  1  sess_"} {
				assert.Contains(t, screen.String(), want)
			}
			written, err := os.ReadFile(filepath.Join(dir, "b.txt"))
			require.NoError(t, err)
			assert.Equal(t, "x", strings.TrimSpace(string(written)))
			said, err := os.ReadFile(s.record)
			require.NoError(t, err)
			answer := strings.Split(string(said), "\n")[1]
			assert.Contains(t, strings.ReplaceAll(answer, `\"`, `"`), version)

			_, id, _ := strings.Cut(screen.String(), "  1  ")
			screen.Reset()
			s.load, s.prompt, s.record = strings.Fields(id)[0], "help", ""
			require.NoError(t, run(t.Context(), s, &console{in: strings.NewReader(""), out: &screen, err: &screen}))
			assert.Contains(t, screen.String(), "> write b.txt: x", "what the user said is told again")
			assert.Contains(t, screen.String(), "I carry out plain requests")
		})
	}
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
		assert.Contains(t, say(t, settings{dir: dir, yes: true, prompt: prompt}, ""), want, prompt)
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
		got := say(t, settings{dir: dir, yes: true, prompt: prompt}, "")
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
			say(t, tt.settings, tt.typed)
			_, err := os.Stat(filepath.Join(tt.settings.dir, "a.txt"))
			assert.Equal(t, tt.written, err == nil)
		})
	}
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	say(t, settings{record: path, prompt: "help"}, "")
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
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

func TestPrintable(t *testing.T) {
	assert.Equal(t, "a[2Jb\tc\nd", printable("a\x1b[2Jb\tc\nd\r\a"))
}

// write makes a file for a test.
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
	assert.Equal(t, "  │ one\n  │ two[2J\n  │ end\n", out.String())
	out.Reset()
	s.output("t", bytes.Repeat([]byte("x"), longestLine))
	assert.NotEmpty(t, out.String(), "a line without an end is not kept for ever")
}
