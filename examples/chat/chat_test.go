//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// example builds one of the example agents, once for all tests.
var example = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "example-agent")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "agent")
	out, err := exec.Command("go", "build", "-o", path, "github.com/acpkit/go-sdk/examples/agent").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := example(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

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
	require.NoError(t, run(t.Context(), s, strings.NewReader(typed), &screen))
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
		"flag yes":           {settings{yes: true}, "write a.txt: x\n", true},
		"flag no":            {settings{no: true}, "write a.txt: x\n", false},
		"typed yes":          {settings{}, "write a.txt: x\n1\n", true},
		"typed no":           {settings{}, "write a.txt: x\n3\n", false},
		"typed nonsense":     {settings{}, "write a.txt: x\nmaybe\n9\n1\n", true},
		"nobody to ask":      {settings{}, "write a.txt: x\n", false},
		"asked once for all": {settings{}, "write b.txt: y\n2\nwrite a.txt: x\n", true},
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

func TestAgentThatIsNone(t *testing.T) {
	err := run(t.Context(), settings{dir: t.TempDir(), prompt: "x", agent: []string{"sh", "-c", "echo no such model >&2; exit 3"}},
		strings.NewReader(""), new(bytes.Buffer))
	assert.ErrorContains(t, err, "exited with status 3")
	assert.ErrorContains(t, err, "no such model")
}

func TestPrintable(t *testing.T) {
	assert.Equal(t, "a[2Jb\tc\nd", printable("a\x1b[2Jb\tc\nd\r\a"))
}
