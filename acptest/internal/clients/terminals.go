package clients

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// create runs a command, with further members of the params, and returns the id of its terminal.
func (s *session) create(command string, args []string, members ...any) string {
	m := s.served("terminal/create", s.with(append([]any{"command", command, "args", args}, members...)...))
	return m.Text("terminalId")
}

func (s *session) script(text string, members ...any) string {
	_, err := exec.LookPath("sh")
	s.t.SkipIf(err != nil, "This system has no sh.")
	return s.create("sh", []string{"-c", text}, members...)
}

// terminal calls a method of a terminal. It returns its response.
func (s *session) terminal(method, id string) check.Message {
	return s.Call("terminal/"+method, s.with("terminalId", id))
}

// output waits until a command has ended, and returns what it has printed.
func (s *session) output(id string) string {
	s.Start("terminal/wait_for_exit", s.with("terminalId", id)).Result()
	m := s.Start("terminal/output", s.with("terminalId", id)).Result()
	return m.Text("output")
}

// busy is a command that has started a child, which holds a named pipe open while it runs.
type busy struct {
	id   string
	pipe *os.File
}

// busy runs such a command in a folder.
func (s *session) busy(dir string) *busy {
	path := filepath.Join(dir, "pipe")
	err := exec.Command("mkfifo", path).Run()
	s.t.SkipIf(err != nil, "This system has no named pipes.")
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	s.t.Requires(err == nil, "The pipe cannot be opened: %v.", err)
	s.t.Cleanup(func() { _ = f.Close() })
	b := &busy{s.script("echo begun; sh -c 'echo $$; exec sleep 60' > pipe & wait", "cwd", dir), f}
	pid := b.read(s.t.Wait, false)
	s.t.Requires(pid != "", "The command did not start.")
	s.t.Cleanup(func() { // a child that was left
		n, _ := strconv.Atoi(strings.TrimSpace(pid))
		if child, err := os.FindProcess(n); err == nil && n > 1 && !b.ended(0) {
			_ = child.Kill()
		}
	})
	return b
}

// read reads from the pipe until there is text, or until it is closed by all that had it open.
func (b *busy) read(within time.Duration, closed bool) string {
	end := time.Now().Add(within)
	buf := make([]byte, 64)
	for {
		_ = b.pipe.SetReadDeadline(end)
		n, err := b.pipe.Read(buf)
		switch {
		case n > 0 && !closed:
			return string(buf[:n])
		case errors.Is(err, io.EOF) && closed:
			return "closed"
		case time.Now().After(end):
			return ""
		}
		time.Sleep(5 * time.Millisecond) // while nobody has it open yet, it is closed
	}
}

func (b *busy) ended(within time.Duration) bool { return b.read(within, true) != "" }

// gone fails the check if the command, or its child, goes on.
func (s *session) gone(b *busy) {
	s.t.FailIf(!b.ended(s.t.Wait), "What the command has started goes on.")
}

const canRun = "terminal"

var terminals = []check.Check{
	{ID: "AKC-TERM-001", Title: "terminal/create responds while the command runs, each time with another id.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			first := s.script("exit 0")
			m := s.Call("terminal/create", s.with("command", "sh", "args", []string{"-c", "exec sleep 60 # acptest-long"}))
			t.FailAtIf(m.Error == nil && m.Text("terminalId") == first, m, "The terminal has no id of its own.")
		})},
	{ID: "AKC-TERM-002", Title: "The output and the exit code of a command are reported.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("echo out; echo err >&2; exit 3")
			m := s.terminal("wait_for_exit", id)
			code := check.Get[*int](&m, "exitCode")
			t.FailAtIf(code == nil || *code != 3, m, "The exit code is not 3.")
			right := s.terminal("wait_for_exit", s.script("exit 0"))
			code = check.Get[*int](&right, "exitCode")
			t.FailAtIf(code == nil || *code != 0, right, "The exit code is not 0.")
			m = s.terminal("output", id)
			out := m.Text("output")
			t.FailAtIf(!strings.Contains(out, "out\n") || !strings.Contains(out, "err\n"), m, "The output is %q.", out)
		})},
	{ID: "AKC-TERM-003", Title: "Other requests are answered while one waits for the exit.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("exec sleep 60")
			c := s.Start("terminal/wait_for_exit", s.with("terminalId", id))
			s.terminal("output", id)
			s.terminal("kill", id)
			c.Response()
		})},
	{ID: "AKC-TERM-004", Title: "The output of a command that was killed can be read.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("echo begun; exec sleep 60")
			for m := s.terminal("output", id); m.Error == nil && m.Text("output") == ""; m = s.terminal("output", id) {
				s.Quiet(s.Mark())
			}
			s.terminal("kill", id)
			out := s.output(id)
			t.FailIf(out != "begun\n", "What the command has printed is lost: the output is %q.", out)
		})},
	{ID: "AKC-TERM-005", Title: "kill ends a command and what it has started.", Tier: check.Should, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			b := s.busy(s.folder())
			s.terminal("kill", b.id)
			s.gone(b)
		})},
	{ID: "AKC-TERM-006", Title: "release ends a command and what it has started.", Tier: check.Should, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			b := s.busy(s.folder())
			s.terminal("release", b.id)
			s.gone(b)
		})},
	{ID: "AKC-TERM-007", Title: "The id of a terminal that was released is not valid any more.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("echo out")
			s.terminal("release", id)
			for _, method := range []string{"terminal/output", "terminal/wait_for_exit", "terminal/kill"} {
				s.refuses(method, s.with("terminalId", id), method+" succeeded for a terminal that was released.")
			}
		})},
	{ID: "AKC-TERM-008", Title: "Requests for a terminal that does not exist fail.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, method := range []string{"terminal/output", "terminal/wait_for_exit", "terminal/kill"} {
				s.refuses(method, s.with("terminalId", "acptest-unknown"), "A terminal that does not exist was found.")
			}
		})},
	{ID: "AKC-TERM-009", Title: "Of a long output the end is kept, cut between characters.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			const limit = 100
			id := s.script("i=0; while [ $i -lt 200 ]; do printf 'é'; i=$((i+1)); done; printf x", "outputByteLimit", limit)
			s.Start("terminal/wait_for_exit", s.with("terminalId", id)).Result()
			m := s.terminal("output", id)
			out := m.Text("output")
			if len(out) > limit || strings.Trim(out, "é") != "x" || !check.Get[bool](&m, "truncated") {
				t.FailAt(m, "The output is not the end of what the command has printed, or is not marked as truncated.")
			}
		})},
	{ID: "AKC-TERM-010", Title: "A command runs in its folder, with its variables, which replace those of the client.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			env := []any{object("name", "ACPTEST_VALUE", "value", "a b"), object("name", "HOME", "value", "/acptest")}
			out := s.output(s.script(`basename "$PWD"; echo "$ACPTEST_VALUE"; echo "$HOME"`, "cwd", dir, "env", env))
			t.FailIf(strings.TrimSpace(out) != filepath.Base(dir)+"\na b\n/acptest", "The command has printed %q.", out)
		})},
	{ID: "AKC-TERM-011", Title: "Arguments reach a command as they are.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			const want = "a b|$HOME|'\"|*|\\|"
			out := s.output(s.create("printf", []string{"%s|", "a b", "$HOME", "'\"", "*", "\\"}))
			t.FailIf(out != want, "The command has got %q instead of %q.", out, want)
		})},
	{ID: "AKC-TERM-012", Title: "A command that does not exist fails.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.asked("terminal/create", s.with("command", "acptest-missing"))
			if m.Error != nil {
				return
			}
			m = s.terminal("wait_for_exit", m.Text("terminalId"))
			code := check.Get[*int](&m, "exitCode")
			t.FailAtIf(code != nil && *code == 0, m, "A command that does not exist has succeeded.")
		})},
	{ID: "AKC-TERM-013", Title: "A command that a signal has ended has not succeeded.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.terminal("wait_for_exit", s.script("kill -9 $$"))
			if code := check.Get[*int](&m, "exitCode"); m.Error == nil && m.Text("signal") == "" && (code == nil || *code == 0) {
				t.FailAt(m, "There is no signal, and no exit code of a failure.")
			}
		})},
	{ID: "AKC-TERM-014", Title: "Commands end with their connection.", Tier: check.Should, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			b := s.busy(s.folder())
			s.CloseInput()
			s.gone(b)
		})},
	{ID: "AKC-TERM-016", Title: "The variables of a command are added to those of the client.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			const show = `echo "$PATH|$HOME"`
			dir := s.folder()
			plain := s.output(s.script(show, "cwd", dir))
			added := s.output(s.script(show, "cwd", dir, "env", []any{object("name", "ACPTEST_VALUE", "value", "x")}))
			t.FailIf(plain != added, "With a variable PATH and HOME are %q, and without one %q.", strings.TrimSpace(added), strings.TrimSpace(plain))
		})},
	{ID: "AKC-TERM-017", Title: "The output of a command that has ended has its exit status.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, want := range []int{4, 0} {
				id := s.script("exit " + strconv.Itoa(want))
				s.Start("terminal/wait_for_exit", s.with("terminalId", id)).Result()
				m := s.terminal("output", id)
				code := check.Get[*int](&m, "exitStatus", "exitCode")
				t.FailAtIf(code == nil || *code != want, m, "The exit status does not have the exit code %d.", want)
			}
		})},
	{ID: "AKC-TERM-018", Title: "The output of a command that runs has no exit status.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("exec sleep 60")
			m := s.terminal("output", id)
			status := check.At(m.Result, "exitStatus")
			t.FailAtIf(len(status) > 0 && string(status) != "null", m, "A command that runs has an exit status.")
			s.terminal("kill", id)
		})},
	{ID: "AKC-TERM-019", Title: "Each of several waits for the exit of a command is answered, also one behind it.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("sleep 1; exit 5")
			first, second := s.Start("terminal/wait_for_exit", s.with("terminalId", id)), s.Start("terminal/wait_for_exit", s.with("terminalId", id))
			for _, m := range []check.Message{first.Response(), second.Response(), s.terminal("wait_for_exit", id)} {
				code := check.Get[*int](&m, "exitCode")
				t.FailAtIf(code == nil || *code != 5, m, "The exit code is not 5.")
			}
		})},
	{ID: "AKC-TERM-023", Title: "A wait that is cancelled is still answered, at the latest when the command ends.", Tier: check.Must, Fact: "cancellation", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("exec sleep 60")
			c := s.Start("terminal/wait_for_exit", s.with("terminalId", id))
			s.Notify("$/cancel_request", object("requestId", json.RawMessage(c.ID)))
			s.Quiet(s.Mark()) // it may be ignored
			s.terminal("kill", id)
			c.Response()
			s.Quiet(s.Mark()) // a second response is judged elsewhere
		})},
	{ID: "AKC-TERM-026", Title: "A wait for the exit is answered when the terminal is released.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("exec sleep 60")
			c := s.Start("terminal/wait_for_exit", s.with("terminalId", id))
			s.Quiet(s.Mark())
			s.terminal("release", id)
			c.Response()
		})},
	{ID: "AKC-TERM-027", Title: "Output that is not UTF-8 can be read.", Tier: check.Should, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script(`printf 'acptest\377\376end\n'`)
			s.Start("terminal/wait_for_exit", s.with("terminalId", id)).Result()
			m := s.terminal("output", id)
			t.FailAtIf(!strings.Contains(m.Text("output"), "acptest") || !strings.Contains(m.Text("output"), "end"), m, "The output does not have what the command has printed beside bytes that are not UTF-8.")
		})},
	{ID: "AKC-TERM-028", Title: "Output up to its limit is whole, and not marked as truncated.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("printf 12345", "outputByteLimit", 5)
			s.Start("terminal/wait_for_exit", s.with("terminalId", id)).Result()
			m := s.terminal("output", id)
			t.FailAtIf(m.Text("output") != "12345" || check.Get[bool](&m, "truncated"), m, "The output of five bytes is not whole with a limit of five, or marked as truncated.")
		})},
	{ID: "AKC-TERM-029", Title: "A command that prints much ends, also if nobody reads its output.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("i=0; while [ $i -lt 4000 ]; do echo 0123456789012345678901234567890123456789012345678901234567890123; i=$((i+1)); done", "outputByteLimit", 1000)
			c := s.Start("terminal/wait_for_exit", s.with("terminalId", id))
			m := c.Response()
			code := check.Get[*int](&m, "exitCode")
			t.FailAtIf(code == nil || *code != 0, m, "The exit code is not 0.")
		})},
	{ID: "AKC-TERM-020", Title: "A command without a folder runs in that of the session.", Tier: check.Should, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			s.folder()
			out := strings.TrimSpace(s.output(s.script("pwd -P")))
			t.FailIf(out != t.Opts.Cwd, "The command runs in %q, and the session in %q.", out, t.Opts.Cwd)
		})},
	{ID: "AKC-TERM-024", Title: "Null stands for an optional param of a command that is absent.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			_, err := exec.LookPath("pwd")
			t.SkipIf(err != nil, "This system has no pwd.")
			s.create("pwd", []string{})
			m := s.Call("terminal/create", s.with("command", "pwd"))
			t.FailAtIf(m.Error != nil, m, "Without args the command was not run, and with an empty list it was.")
			m = s.Call("terminal/create", s.with("command", "pwd", "args", nil, "env", nil, "cwd", nil, "outputByteLimit", nil))
			t.FailAtIf(m.Error != nil, m, "With null as args, env, cwd and outputByteLimit the command was not run, and without them it was.")
		})},
	{ID: "AKC-TERM-025", Title: "A character whose bytes are printed one after the other is one character of the output.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			out := s.output(s.script(`printf 'acptest-\303'; sleep 0.3; printf '\266\n'`))
			t.FailIf(out != "acptest-ö\n", "The output is %q instead of %q.", out, "acptest-ö\n")
		})},
	{ID: "AKC-TERM-021", Title: "The output of terminals is not mixed up.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			var ids []string
			for i := range 4 {
				ids = append(ids, s.script("echo terminal "+strconv.Itoa(i)))
			}
			for i, id := range ids {
				out := s.output(id)
				t.FailIf(out != "terminal "+strconv.Itoa(i)+"\n", "Terminal %d has the output %q.", i, out)
			}
		})},
	{ID: "AKC-TERM-022", Title: "A command that ended by itself may be killed, be it with an error, and its output stays.", Tier: check.Must, Fact: "terminals", In: check.V1, Needs: canRun,
		Run: check.With(open, func(t *check.T, s *session) {
			id := s.script("echo out")
			s.output(id)
			s.terminal("kill", id)
			out := s.output(id)
			t.FailIf(out != "out\n", "The output is %q.", out)
		})},
	{ID: "AKC-TERM-015", Title: "Commands run only in a session that the client has opened.", Tier: check.Should, Fact: "terminals", In: check.V1, Needs: canRun, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.script("exit 0")
			s.id = "acptest-unknown"
			s.refuses("terminal/create", s.with("command", "true"), "A command was run in a session that does not exist.")
		})},
}
