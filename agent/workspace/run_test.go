//go:build unix

package workspace_test

import (
	"context"
	"io"
	"os"
	"os/user"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/rpcerr"
)

func line(text string) workspace.Command { return workspace.Command{Line: text} }

// ran runs a command and returns the result. Run must not fail.
func (f *fixture) ran(c workspace.Command) *workspace.Result {
	f.t.Helper()
	res, err := f.Run(f.t.Context(), c, nil)
	require.NoError(f.t, err)
	return res
}

func TestCommandsOnThisMachine(t *testing.T) {
	f := open(t, "", nil)
	f.put("dir/a", "")
	for want, c := range map[string]workspace.Command{
		"out\nerr\n":     line("echo out; echo err >&2"),
		f.root + "\n":    line("pwd"),
		f.at("dir\n"):    {Line: "pwd", Cwd: "dir"},
		"a\n":            {Line: "ls", Cwd: f.at("dir")},
		"no input":       line("cat; printf 'no input'"),
		" \n trimmed\n ": line(`printf ' \n trimmed\n '`),
		"aÿb":            line(`printf 'a\377b'`),
		"für 5 €":        line(`printf 'f\374r 5 \200'`),
		"hi €":           line(`printf 'h\0i\0 \0\254\040'`),
	} {
		res := f.ran(c)
		assert.Equal(t, want, res.Output)
		assert.Equal(t, uint32(0), *res.ExitCode, want)
		assert.False(t, res.Truncated || res.TimedOut)
	}
	assert.Equal(t, uint32(7), *f.ran(line("exit 7")).ExitCode)
	killed := f.ran(line("kill -9 $$"))
	assert.Equal(t, "SIGKILL", killed.Signal)
	assert.Nil(t, killed.ExitCode)
	assert.Equal(t, uint32(127), *f.ran(line("no-such-program")).ExitCode)
	for cwd, want := range map[string]error{"..": workspace.ErrOutside, "none": os.ErrNotExist, "/etc": workspace.ErrOutside} {
		_, err := f.Run(t.Context(), workspace.Command{Line: "ls", Cwd: cwd}, nil)
		assert.ErrorIs(t, err, want)
	}
	for _, c := range []workspace.Command{line(""), line("ls\x00"), {Line: "ls", Cwd: "dir/a"}} {
		_, err := f.Run(t.Context(), c, nil)
		assert.Error(t, err, "%q", c)
	}
}

// A command gets the environment variables that programs need, and no secret of this program.
func TestEnvironment(t *testing.T) {
	t.Setenv("MODEL_API_KEY", "secret-1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-2")
	t.Setenv("PROJECT", "kept")
	t.Setenv("LC_X", "left out")
	env := open(t, "", nil).ran(line("env")).Output
	assert.NotContains(t, env, "secret-")
	assert.NotContains(t, env, "kept")
	assert.Contains(t, env, "PATH=")
	assert.Contains(t, env, "GIT_TERMINAL_PROMPT=0")
	env = open(t, "", &workspace.Options{Inherit: []string{"PROJECT", "!LC_*"}}).ran(line("env")).Output
	assert.Contains(t, env, "PROJECT=kept")
	assert.NotContains(t, env, "LC_X")
}

// Some editors start agents with PATH alone: a command gets the home folder of the account.
func TestCommandsHaveAHome(t *testing.T) {
	account, err := user.Current()
	require.NoError(t, err)
	t.Setenv("HOME", "")
	assert.Equal(t, account.HomeDir+"\n", open(t, "", nil).ran(line("echo $HOME")).Output)
	t.Setenv("HOME", "/h")
	assert.Equal(t, "/h\n", open(t, "", nil).ran(line("echo $HOME")).Output)
}

// A client may tell that a command has ended, and not how.
func TestEndedInAnUnknownWay(t *testing.T) {
	f := open(t, "c", nil)
	f.editor.exit, f.editor.output = &acp.WaitForTerminalExitResponse{}, "said\n"
	res := f.ran(line("x"))
	assert.Nil(t, res.ExitCode)
	assert.Empty(t, res.Signal)
	done := f.call(tools.Env{Session: &person{}}, "run_command", object{"command": "x"})
	assert.Equal(t, "said\n\n[it has ended, and the client does not say how: look whether it has done its work]", read(done))
}

// Where there is no shell, the person and the model read that, and not that their command does not exist.
func TestNoShell(t *testing.T) {
	f := open(t, "c", nil)
	f.editor.refuse = rpcerr.InternalError(nil).WithDetail("spawn /bin/sh ENOENT")
	done := f.call(tools.Env{Session: &person{}}, "run_command", object{"command": "make all"})
	assert.Equal(t, tools.Failed, done.Outcome)
	assert.Contains(t, read(done), "make all: the client says: ")
	assert.Contains(t, read(done), "spawn /bin/sh ENOENT")

	workspace.SetShell(t, "/bin/no-such-shell")
	done = open(t, "", nil).call(tools.Env{Session: &person{}}, "run_command", object{"command": "make all"})
	assert.Equal(t, tools.Failed, done.Outcome)
	assert.Contains(t, read(done), "the shell /bin/no-such-shell of this machine cannot be used, so no command can")
}

// The end of a long output is kept. It begins with a complete rune.
func TestOutputLimit(t *testing.T) {
	f := open(t, "", nil)
	res := f.ran(line(`awk 'BEGIN { for (i = 0; i < 50000; i++) printf "€"; print "end" }'`))
	long := strings.Repeat("€", 50000) + "end\n"
	assert.True(t, res.Truncated)
	assert.True(t, utf8.ValidString(res.Output))
	assert.True(t, strings.HasSuffix(long, res.Output))
	assert.InDelta(t, 64<<10, len(res.Output), 3)

	f = open(t, "c", nil)
	f.editor.output = long // the client ignores the limit
	res = f.ran(line("x"))
	assert.True(t, res.Truncated)
	assert.True(t, strings.HasSuffix(long, res.Output))
	assert.InDelta(t, 64<<10, len(res.Output), 3)
	req := f.editor.params[0].(*acp.CreateTerminalRequest)
	assert.Equal(t, uint64(64<<10), *req.OutputByteLimit)
	assert.Equal(t, []string{"/bin/sh", "-c", ":\nx\n", f.root}, append(append([]string{req.Command}, req.Args...), req.Cwd))
}

// pipe makes a FIFO for a command to write to. begun waits until a process has opened it, and ended
// waits until every process that has it open has ended.
func (f *fixture) pipe(name string) (begun, ended func()) {
	require.NoError(f.t, syscall.Mkfifo(f.at(name), 0o644))
	opened := make(chan *os.File, 1)
	go func() { // ends when a process opens the FIFO
		r, _ := os.Open(f.at(name))
		opened <- r
	}()
	var r *os.File
	begun = func() { r = <-opened }
	return begun, func() {
		if r == nil {
			begun()
		}
		defer r.Close()
		_, err := io.Copy(io.Discard, r)
		require.NoError(f.t, err)
	}
}

// A command that exceeds its timeout is stopped with all its descendants, and killed if it ignores
// that. The result has its output so far.
func TestTimeout(t *testing.T) {
	for signal, line := range map[string]string{
		"SIGTERM": "exec 3> fifo; echo begun; sleep 1000 & sleep 1000",
		"SIGKILL": "trap '' TERM; exec 3> fifo; echo begun; while :; do sleep 1000; done",
	} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			f := open(t, "", nil)
			_, ended := f.pipe("fifo")
			res := f.ran(workspace.Command{Line: line, Timeout: 5 * time.Second})
			assert.True(t, res.TimedOut)
			assert.Equal(t, "begun\n", res.Output)
			assert.Equal(t, signal, res.Signal)
			ended()
		})
	}
}

// Processes that a command leaves running end with it.
func TestGrandchild(t *testing.T) {
	f := open(t, "", nil)
	_, ended := f.pipe("fifo")
	require.NoError(t, syscall.Mkfifo(f.at("ready"), 0o644))
	res := f.ran(line("(exec 3> fifo; echo > ready; exec sleep 1000) & read x < ready; echo over"))
	assert.Equal(t, "over\n", res.Output)
	ended()
}

// A cancelled command is stopped, and its output is returned with the error.
func TestCancel(t *testing.T) {
	f := open(t, "", nil)
	begun, ended := f.pipe("fifo")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { // ends when the command has begun
		begun()
		cancel(acp.ErrTurnCancelled)
	}()
	res, err := f.Run(ctx, workspace.Command{Line: "echo begun; exec 3> fifo; sleep 1000 & sleep 1000", Timeout: time.Hour}, nil)
	assert.ErrorIs(t, err, acp.ErrTurnCancelled)
	assert.Equal(t, "begun\n", res.Output)
	assert.False(t, res.TimedOut)
	ended()
	_, err = f.Run(ctx, line("echo x > ran"), nil)
	assert.Error(t, err)
	assert.Equal(t, "no file", f.disk("ran"))
}

// A terminal of the client is killed, its output is read, and it is released.
func TestStoppedAtTheClient(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := open(t, "c", nil)
			f.editor.killed, f.editor.output = make(chan struct{}), "begun\n"
			ctx, cancel := context.WithCancelCause(t.Context())
			f.editor.before = func(method string) {
				if method == acp.MethodTerminalWaitForExit && timeout == 0 {
					cancel(acp.ErrTurnCancelled)
				}
			}
			res, err := f.Run(ctx, workspace.Command{Line: "sleep 1000", Timeout: timeout}, nil)
			require.NotNil(t, res, err)
			assert.Equal(t, "begun\n", res.Output)
			assert.Equal(t, "SIGKILL", res.Signal)
			assert.Equal(t, timeout > 0, res.TimedOut)
			if timeout == 0 {
				assert.ErrorIs(t, err, acp.ErrTurnCancelled)
			} else {
				assert.NoError(t, err)
			}
			asked := f.editor.requests()
			assert.Contains(t, asked, acp.MethodTerminalKill)
			assert.Equal(t, []string{acp.MethodTerminalOutput, acp.MethodTerminalRelease}, asked[len(asked)-2:])
		})
	}
}
