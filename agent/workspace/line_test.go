//go:build unix

package workspace_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
)

// asked returns the terminal that the workspace asks the client for.
func (f *fixture) asked(text string) *acp.CreateTerminalRequest {
	f.t.Helper()
	f.ran(line(text))
	f.editor.mu.Lock()
	defer f.editor.mu.Unlock()
	for i := len(f.editor.params) - 1; ; i-- {
		if req, ok := f.editor.params[i].(*acp.CreateTerminalRequest); ok {
			return req
		}
	}
}

// printed runs a command in the folder of the session, and returns what it prints and its exit code.
func (f *fixture) printed(argv ...string) (string, int) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = f.root
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(f.t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// input returns the input of the tool call that a person was asked about.
func input(t *testing.T, p *person) (in object) {
	require.Len(t, p.asked, 1)
	require.NoError(t, json.Unmarshal(p.asked[0].RawInput, &in))
	return in
}

// The clients in use start a terminal in different ways. In all of them runs the line that the person
// has allowed.
func TestEveryClientRunsTheSameLine(t *testing.T) {
	joined := func(argv []string) string { return strings.Join(argv, " ") }
	quoted := func(argv []string) string {
		all := []string{argv[0]}
		for _, arg := range argv[1:] {
			all = append(all, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
		}
		return joined(all)
	}
	sh := func(line string) []string { return []string{"/bin/sh", "-c", line} }
	clients := map[string]func(argv []string) []string{
		"starts the program":    func(argv []string) []string { return argv },
		"joins, as vscode-acp":  func(argv []string) []string { return sh(joined(argv)) },
		"joins, as Zed did":     func(argv []string) []string { return sh("(" + joined(argv) + ") </dev/null") },
		"quotes, as Zed":        func(argv []string) []string { return sh("(" + quoted(argv) + ") </dev/null") },
		"quotes, as Obsidian's": func(argv []string) []string { return sh(quoted(argv)) },
	}
	f := open(t, "c", nil)
	f.put("notes.txt", "from notes\n")
	f.put("sub/a b", "from a b\n")
	for text, want := range map[string]struct {
		out  string
		code int
	}{
		"cat notes.txt":                           {"from notes\n", 0},
		"cat 'sub/a b' \"notes.txt\"":             {"from a b\nfrom notes\n", 0},
		`echo "it's" 'a "b"' "a  b" \$X`:          {`it's a "b" a  b $X` + "\n", 0},
		"cd sub && ls":                            {"a b\n", 0},
		"false && echo no":                        {"", 1},
		"false || exit 7":                         {"", 7},
		"echo a; exit 3":                          {"a\n", 3},
		"echo one\necho two\nexit 4":              {"one\ntwo\n", 4},
		"\n\n  echo blank\n\n":                    {"blank\n", 0},
		"X=1; echo $X \"$X\" '$X' ${X}2 $((X+1))": {"1 1 $X 12 2\n", 0},
		"echo $(cat notes.txt) `echo b`":          {"from notes b\n", 0},
		"cat <<EOF\nit's $((1+1))\nEOF":           {"it's 2\n", 0},
		"cat <<'END'\n  \"$X\" 'y' `z`\nEND":      {"  \"$X\" 'y' `z`\n", 0},
		"cat <<EOF && exit 5\na\nEOF\n":           {"a\n", 5},
		"echo a # echo b":                         {"a\n", 0},
		"# only a comment":                        {"", 0},
		"for i in 1 2; do\n  echo $i\ndone":       {"1\n2\n", 0},
		"echo a\\\nb":                             {"ab\n", 0},
		`printf '%s\n' 'a\' b\\`:                  {"a\\\nb\\\n", 0},
		"echo 'a\n b'":                            {"a\n b\n", 0},
		"trap 'echo bye' EXIT; echo hi":           {"hi\nbye\n", 0},
		"set -e; false; echo no":                  {"", 1},
		"cat notes.txt | tr a-z A-Z > up; cat up": {"FROM NOTES\n", 0},
		"(exit 6)":                                {"", 6},
		": && ls sub":                             {"a b\n", 0},
		":\nls sub":                               {"a b\n", 0},
		"no-such-program":                         {"", 127},
	} {
		req := f.asked(text)
		for name, client := range clients {
			if strings.HasSuffix(text, `\`) && name == "joins, as Zed did" {
				continue // nothing can follow the line there
			}
			out, code := f.printed(client(append([]string{req.Command}, req.Args...))...)
			assert.Equal(t, want.out, out, "%s: %q", name, text)
			assert.Equal(t, want.code, code, "%s: %q", name, text)
		}
		p := &person{}
		f.call(tools.Env{Session: p}, "run_command", object{"command": text})
		assert.Equal(t, object{"command": text, "cwd": f.root}, input(t, p), "the person reads what the model wrote")
	}
}

// On Windows a line is the only argument, because that runs in each of these clients and programs do not
// agree on how to write a quote between quotes. A client that starts programs cannot run it, and says so.
func TestLinesForWindows(t *testing.T) {
	f := open(t, "c", nil)
	w, err := workspace.Open(f.conn, "s1", []string{`C:\work`}, nil)
	require.NoError(t, err)
	f.Workspace = w
	for _, text := range []string{
		"echo a && echo b", `git commit -m "a b"`, `cd sub&&dir`, "echo %PATH%", "echo(a", "a^^b", "type a|more", "dir>x", "(dir)", "echo;a", "a=b", "dir\r\ndir", "!x!", "dir ",
	} {
		req := f.asked(text)
		assert.Equal(t, text, req.Command)
		assert.Empty(t, req.Args, "%q", text)
	}
	for _, word := range []string{"dir", `.\build.cmd`, `C:\tools\run`, "tool.exe"} {
		req := f.asked(word)
		assert.Equal(t, []string{"cmd.exe", "/d", "/c", word}, append([]string{req.Command}, req.Args...), "a word alone could be taken for a program")
		p := &person{}
		f.call(tools.Env{Session: p}, "run_command", object{"command": word})
		assert.Equal(t, object{"command": word, "cwd": `C:\work`}, input(t, p))
	}
}
