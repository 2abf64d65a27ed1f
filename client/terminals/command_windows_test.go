package terminals_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/wine"
	"github.com/acpkit/go-sdk/rpcerr"
)

func copySelf(t *testing.T, to string) {
	t.Helper()
	in, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer in.Close()
	out, err := os.Create(to)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

// Programs are found without the extension of their names, as by a shell of Windows.
func TestWhichProgram(t *testing.T) {
	var seen *terminals.Command
	h := newRunner(t, nil, func(_ context.Context, c *terminals.Command) error {
		seen, c.Consented = c, c.Unlisted
		return nil
	})
	tools := filepath.Join(h.work, "tools")
	require.NoError(t, os.Mkdir(tools, 0o755))
	copySelf(t, filepath.Join(tools, "tool.exe"))
	require.NoError(t, os.WriteFile(filepath.Join(tools, "script.cmd"), []byte("@echo it is me\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(tools, "text.txt"), []byte("no program"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(tools, "text.txt.cmd"), []byte("@echo it is me\r\n"), 0o600))
	say := []string{"play", "say", "it is me", "0"}
	for _, tt := range []struct {
		command string
		args    []string
		path    string
	}{
		{"tool", say, filepath.Join(tools, "tool.exe")},
		{"tool.exe", say, filepath.Join(tools, "tool.exe")},
		{`tools\tool`, say, filepath.Join(tools, "tool.exe")},
		{"./tools/tool", say, filepath.Join(tools, "tool.exe")},
		{`.\tools\tool.EXE`, say, filepath.Join(tools, "tool.exe")},
		{`..\work\tools\tool`, say, filepath.Join(tools, "tool.exe")},
		{`tools\text.txt`, nil, filepath.Join(tools, "text.txt.cmd")},
		{filepath.Join(tools, "tool"), say, filepath.Join(tools, "tool.exe")},
		{"script", nil, filepath.Join(tools, "script.cmd")},
		{`.\tools\script`, nil, filepath.Join(tools, "script.cmd")},
		{filepath.ToSlash(filepath.Join(tools, "script.cmd")), nil, filepath.ToSlash(filepath.Join(tools, "script.cmd"))},
	} {
		out := h.run(acp.CreateTerminalRequest{Command: tt.command, Args: tt.args, Env: []acp.EnvVariable{{Name: "Path", Value: tools}}})
		assert.Equal(t, "it is me\n", strings.ReplaceAll(out, "\r", ""), tt.command)
		assert.True(t, strings.EqualFold(tt.path, seen.Path), "%s: %s", tt.command, seen.Path)
		assert.False(t, seen.Shell, tt.command)
	}
}

// A name is refused if it depends on more than the folder of the command, or if no file can have
// it.
func TestNamesThatAreNoPrograms(t *testing.T) {
	asked := false
	h := newRunner(t, nil, func(context.Context, *terminals.Command) error { asked = true; return nil })
	copySelf(t, filepath.Join(h.work, "tool.exe"))
	volume := filepath.VolumeName(h.work)
	for command, want := range map[string]error{
		volume + "tool.exe": terminals.ErrCommand, volume + `..\tool.exe`: terminals.ErrCommand, `\tool.exe`: terminals.ErrCommand, "/tool.exe": terminals.ErrCommand,
		h.work + `\tool.exe:stream`: terminals.ErrCommand, `.\tool.exe:stream`: terminals.ErrCommand, "tool.exe::$DATA": terminals.ErrCommand,
		`.\tool?.exe`: terminals.ErrCommand, `.\"tool"`: terminals.ErrCommand, ".\\tool\x01": terminals.ErrCommand,
		"CON": terminals.ErrNotFound, "nul": terminals.ErrNotFound, `.\CON`: terminals.ErrNotFound, "tool.txt": terminals.ErrNotFound, "": terminals.ErrCommand,
		volume + `\nothing\tool`: terminals.ErrNotFound,
	} {
		_, err := h.tryCreate(acp.CreateTerminalRequest{Command: command, Args: []string{"play", "exit", "0"}})
		assert.ErrorIs(t, err, want, "%q", command)
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, "%q", command)
	}
	assert.False(t, asked)
}

func TestLinesForTheShell(t *testing.T) {
	var seen *terminals.Command
	h := newRunner(t, nil, func(_ context.Context, c *terminals.Command) error { seen = c; return nil })
	for line, want := range map[string]string{
		"echo a&& echo b":                   "a\nb\n",
		`echo "a b"`:                        "\"a b\"\n",
		"cd ":                               h.work + "\n",
		"echo %OS%":                         "Windows_NT\n",
		`"` + os.Args[0] + `" play say x 3`: "x\n",
	} {
		out := strings.ReplaceAll(h.run(acp.CreateTerminalRequest{Command: line}), "\r", "")
		assert.Equal(t, want, out, line)
		assert.True(t, seen.Shell)
		assert.Equal(t, []string{line}, seen.Argv)
	}
}

// A batch file receives its arguments unchanged, and cmd.exe runs none of them as a command.
func TestArgumentsOfBatchFiles(t *testing.T) {
	h := newRunner(t, nil, nil)
	script := filepath.Join(h.work, "a script.cmd")
	require.NoError(t, os.WriteFile(script, []byte("@\""+os.Args[0]+"\" play arguments %*\r\n"), 0o600))
	t.Setenv("SECRET", "s3cr3t")
	args := []string{"plain", "", "a b", `C:\dir\`, `C:\a dir\`, "a&echo x>made", "|more", "^", "(a)", "a;b,c=d", "!SECRET!", "ünï"}
	var got []string
	out := h.run(acp.CreateTerminalRequest{Command: script, Args: args})
	require.NoError(t, json.Unmarshal([]byte(out), &got), out)
	assert.Equal(t, args, got)
	assert.NoFileExists(t, filepath.Join(h.work, "made"))
	for _, arg := range []string{`"&echo x>made&"`, `\"&echo x>made`, "%SystemRoot%", "100%", "a\necho x>made", "a\rb"} {
		_, err := h.tryCreate(acp.CreateTerminalRequest{Command: script, Args: []string{arg}})
		assert.ErrorIs(t, err, terminals.ErrCommand, arg)
		assert.ErrorContains(t, err, "batch file")
	}
}

func TestFoldersOfCommands(t *testing.T) {
	h := newRunner(t, nil, nil)
	sub, file := filepath.Join(h.work, "Sub"), filepath.Join(h.work, "file")
	require.NoError(t, os.Mkdir(sub, 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	volume := filepath.VolumeName(h.work)
	for _, tt := range []struct {
		cwd, want string
		err       error
	}{
		{"", h.work, nil},
		{sub, sub, nil},
		{strings.ToUpper(sub), sub, nil},
		{filepath.ToSlash(sub), sub, nil},
		{h.base, "", files.ErrOutside},
		{h.work + `\..`, "", files.ErrOutside},
		{h.work + "-twin", "", files.ErrOutside},
		{`\\server\share`, "", files.ErrOutside},
		{`\\?\` + h.work, "", files.ErrOutside},
		{volume + "Sub", "", files.ErrName},
		{`\Sub`, "", files.ErrName},
		{"Sub", "", files.ErrName},
		{sub + ".", "", files.ErrName},
		{sub + ":stream", "", files.ErrName},
		{filepath.Join(h.work, "NUL"), "", files.ErrName},
		{filepath.Join(h.work, "missing"), "", terminals.ErrCwd},
		{file, "", files.ErrNotFolder},
	} {
		req := play("folder")
		req.Cwd = tt.cwd
		if tt.err != nil {
			_, err := h.tryCreate(req)
			assert.ErrorIs(t, err, tt.err, tt.cwd)
			continue
		}
		assert.Equal(t, tt.want+"\n", h.run(req), tt.cwd)
	}
}

func TestEnvironmentOfCommands(t *testing.T) {
	t.Setenv("MY_API_KEY", "s3cr3t")
	t.Setenv("LC_Paper", "a4")
	h := newRunner(t, nil, nil)
	req := play("environment")
	req.Env = []acp.EnvVariable{{Name: "ci", Value: "1"}, {Name: "CI", Value: "2"}}
	var list []string
	require.NoError(t, json.Unmarshal([]byte(h.run(req)), &list))
	env := map[string]string{}
	for _, e := range list {
		name, value, _ := strings.Cut(e, "=")
		name = strings.ToUpper(name)
		assert.NotContains(t, env, name, "names differ by more than case")
		env[name] = value
	}
	assert.Equal(t, "2", env["CI"])
	assert.Equal(t, "a4", env["LC_PAPER"])
	assert.Equal(t, os.Getenv("PATH"), env["PATH"])
	assert.Equal(t, os.Getenv("SystemRoot"), env["SYSTEMROOT"])
	assert.NotContains(t, env, "MY_API_KEY")
	for _, name := range []string{"Path", "PATHEXT", "ComSpec", "node_options"} {
		req := play("exit", "0")
		req.Env = []acp.EnvVariable{{Name: name, Value: "x"}}
		_, err := h.tryCreate(req)
		assert.ErrorIs(t, err, terminals.ErrEnv, name)
	}
}

func TestExitCodes(t *testing.T) {
	h := newRunner(t, nil, nil)
	for text, want := range map[string]uint32{"0": 0, "42": 42, "-1": 1<<32 - 1} {
		id := h.create(play("exit", text))
		assertExit(t, want, h.wait(id))
		assert.Equal(t, want, *h.output(id).ExitStatus.ExitCode)
		h.release(id)
	}
}

// Processes that a command leaves behind end with it, and do not delay the exit.
func TestLeftProcessesEnd(t *testing.T) {
	h := newRunner(t, &terminals.Options{Grace: time.Hour}, nil)
	id := h.create(play("leave", "file", "5"))
	assertExit(t, 5, h.wait(id))
	h.pool.Close()
	requireGone(t, h.pids(id, 1))
}

func TestProcessTreeEnds(t *testing.T) {
	for end, f := range map[string]func(*runner, acp.TerminalID){
		"kill": func(h *runner, id acp.TerminalID) {
			h.kill(id)
			assertExit(h.t, 1, h.wait(id))
			h.pool.Close()
		},
		"session":    func(h *runner, _ acp.TerminalID) { h.conn.Close("s") },
		"close":      func(h *runner, _ acp.TerminalID) { h.pool.Close() },
		"connection": func(h *runner, _ acp.TerminalID) { h.conn.End() },
		"release":    func(h *runner, id acp.TerminalID) { h.release(id); h.pool.Close() },
	} {
		t.Run(end, func(t *testing.T) {
			h := newRunner(t, &terminals.Options{Grace: -1}, nil)
			id := h.create(play("stay", "file"))
			pids := h.pids(id, 2)
			f(h, id)
			requireGone(t, pids)
		})
	}
}

// A command that does not handle Ctrl-Break is ended by it.
func TestKillAsksFirst(t *testing.T) {
	wine.Lacks(t, "GenerateConsoleCtrlEvent for a process group")
	h := newRunner(t, &terminals.Options{Grace: time.Hour}, nil)
	id := h.create(play("stay", "file"))
	pids := h.pids(id, 2)
	h.kill(id)
	h.wait(id)
	h.pool.Close()
	requireGone(t, pids)
}
