package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// session is chat on a pseudo-terminal.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	seen   string // what was read and not expected yet
	all    string
}

func onPTY(t *testing.T, env []string, args ...string) *session {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { master.Close() })
	var n, unlock int32
	control(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(t, master, syscall.TIOCGPTN, unsafe.Pointer(&n))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { slave.Close() })
	size := [4]uint16{24, 80}
	control(t, master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	require.NoError(t, master.SetDeadline(time.Now().Add(time.Minute)))
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s := &session{t: t, master: master, slave: slave, cmd: exec.CommandContext(ctx, self, args...)}
	s.cmd.Env = append(append(os.Environ(), mainEnv+"=1", "TERM=xterm"), env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	return s
}

func control(t *testing.T, f *os.File, request uintptr, value unsafe.Pointer) {
	t.Helper()
	conn, err := f.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, conn.Control(func(fd uintptr) {
		_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(value))
		require.Zero(t, failed)
	}))
}

// expect reads until the screen shows a text after what was expected before.
func (s *session) expect(text string) {
	s.t.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(s.seen, text) {
		n, err := s.master.Read(buf)
		require.NoError(s.t, err, "%q not in %q", text, s.seen)
		s.seen += string(buf[:n])
		s.all += string(buf[:n])
	}
	_, s.seen, _ = strings.Cut(s.seen, text)
}

func (s *session) send(keys string) {
	s.t.Helper()
	_, err := s.master.WriteString(keys)
	require.NoError(s.t, err)
}

// reply sends keys when the screen shows a text.
func (s *session) reply(text, keys string) {
	s.t.Helper()
	s.expect(text)
	s.send(keys)
}

func (s *session) quit() {
	s.t.Helper()
	s.reply("> ", "\x04")
	require.NoError(s.t, s.cmd.Wait())
}

// cooked reports whether the terminal edits lines itself.
func (s *session) cooked() bool {
	var mode syscall.Termios
	control(s.t, s.slave, syscall.TCGETS, unsafe.Pointer(&mode))
	return mode.Lflag&(syscall.ICANON|syscall.ECHO) == syscall.ICANON|syscall.ECHO
}

// A conversation on a real terminal: colours, completion, commands, a question, the end.
func TestOnATerminal(t *testing.T) {
	agent := exampleAgent(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	s := onPTY(t, []string{"NO_COLOR="}, "-dir", dir, "--", agent, "-state", t.TempDir())
	s.expect("> ")
	assert.False(t, s.cooked(), "at the prompt it passes on keys")
	s.send("help\r")
	s.expect("(end turn)") // the agent has listed its commands
	s.reply("> ", "/h\t")
	s.reply("> /help ", "\r")
	s.expect("\x1b[2m(end turn)\x1b[0m")
	s.reply("> ", ":m\ta\t\t")
	s.reply("ask  auto", "u\t\r")
	s.reply("> ", ":mode\r")
	s.reply("* auto", ":set detail f\t\r")
	s.reply("> ", "write a.txt: three\r")
	s.expect("\x1b[31m  - one\x1b[0m")
	s.expect("\x1b[32m  + three\x1b[0m")
	s.reply("choose a number: ", "1\r")
	s.expect("\x1b[32m✓ Write a.txt\x1b[0m")
	s.quit()
	assert.True(t, s.cooked(), "it is as it was")
}

func TestNoColorOnATerminal(t *testing.T) {
	agent := exampleAgent(t)
	for name, env := range map[string]string{"NO_COLOR": "NO_COLOR=1", "dumb": "TERM=dumb"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := onPTY(t, []string{env}, "-yes", "-dir", dir, "-prompt", "write a.txt: x", "--", agent, "-state", t.TempDir())
			s.expect("\r\n  + x\r\n")
			s.expect("\r\n(end turn)\r\n")
			require.NoError(t, s.cmd.Wait())
		})
	}
}

// Every signal that ends the program restores the terminal first.
func TestSignalsRestoreTheTerminal(t *testing.T) {
	agent := exampleAgent(t)
	for name, sig := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGQUIT": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("this signal is ignored, as under nohup: the processes of the test would ignore it too")
			}
			s := onPTY(t, nil, "-dir", t.TempDir(), "--", agent, "-state", t.TempDir())
			s.expect("> ")
			require.False(t, s.cooked())
			if name == "Ctrl-C" {
				s.send("\x03")
			} else {
				require.NoError(t, s.cmd.Process.Signal(sig))
			}
			go io.Copy(io.Discard, s.master) // what SIGQUIT prints; ends with the test
			assert.Error(t, s.cmd.Wait(), "a signal ends it")
			assert.True(t, s.cooked())
		})
	}
}

// A sign-in on the terminal has the terminal to itself.
func TestSignInOnATerminal(t *testing.T) {
	settings := lock(t, lockedAgent{Methods: "[" + terminalWay + "," + variableWay + "]", Refuses: "session/prompt", Reopens: true})
	s := onPTY(t, nil, append([]string{"-dir", settings.dir, "--"}, settings.agent...)...)
	s.reply("> ", "hello\r")
	s.expect("1 In a shell: run ")
	s.reply("choose a number: ", "1\r")
	s.expect("logging in")
	s.expect("The agent is started again.")
	s.expect("welcome in")
	s.quit()
}

// While a sign-in waits, chat prints that it waits. Ctrl-C cancels only the sign-in.
func TestCtrlCCancelsSignIn(t *testing.T) {
	settings := lock(t, lockedAgent{Methods: "[" + callWay + "]", Refuses: "session/prompt", Hangs: true})
	s := onPTY(t, nil, append([]string{"-dir", settings.dir, "--"}, settings.agent...)...)
	s.reply("> ", "hello\r")
	s.reply("choose a number: ", "1\r")
	s.reply("Waiting for the agent to sign you in.", "\x03")
	s.expect("(not signed in)")
	s.quit()
}

// A secret value is not shown, neither on the screen nor in the next question.
func TestSecretOnATerminal(t *testing.T) {
	settings := lock(t, lockedAgent{Methods: "[" + variableWay + "]", Refuses: "session/new", Reopens: true})
	s := onPTY(t, nil, append([]string{"-dir", settings.dir, "--"}, settings.agent...)...)
	s.reply("choose a number: ", "1\r")
	s.reply("CHAT_TEST_KEY: ", "secret\r")
	s.expect("The agent is started again.")
	s.reply("> ", "hello\r")
	s.expect("welcome in")
	s.quit()
	assert.NotContains(t, s.all, "secret")
}

// What was typed before the agent asked is no answer, also if the question appears at once.
func TestTypedBeforeTheQuestion(t *testing.T) {
	agent := exampleAgent(t)
	for _, term := range []string{"TERM=xterm", "TERM=dumb"} {
		t.Run(term, func(t *testing.T) {
			dir := t.TempDir()
			s := onPTY(t, []string{term}, "-dir", dir, "--", agent, "-state", t.TempDir())
			s.reply("> ", "write a.txt: x\r1\r1")
			s.reply("choose a number: ", "\r") // enters what is left of the line
			s.expect("Type a number from 1 to ")
			_, err := os.Stat(filepath.Join(dir, "a.txt"))
			assert.ErrorIs(t, err, os.ErrNotExist)
			s.reply("choose a number: ", "1\r")
			s.expect("(end turn)")
			assert.FileExists(t, filepath.Join(dir, "a.txt"))
		})
	}
}
