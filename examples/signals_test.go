//go:build unix

package examples_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// program is a running example, with the agent that it has started.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	reports *bufio.Reader
	agents  []int // the agent, the process that it has started, and its terminal
}

func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(filepath.Join(programs, name), args...)}
	fifo := filepath.Join(t.TempDir(), "report")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	reports, err := os.OpenFile(fifo, os.O_RDWR, 0) // RDWR: the pipe has no end between two reports
	require.NoError(t, err)
	require.NoError(t, reports.SetReadDeadline(time.Now().Add(time.Minute)))
	t.Cleanup(func() { reports.Close() })
	p.reports = bufio.NewReader(reports)
	p.cmd.Env = append(os.Environ(), playEnv+"=deaf", reportEnv+"="+fifo)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.in, err = p.cmd.StdinPipe() // must stay open
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		for _, pid := range p.agents {
			if pid > 0 { // 0, for one that was not reported, would be this process group
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = p.cmd.Wait()
	})
	return p
}

// expect waits for the next report of the agent.
func (p *program) expect(want string, args ...any) {
	p.t.Helper()
	got, err := p.reports.ReadString('\n')
	require.NoError(p.t, err)
	if len(args) == 0 {
		require.Equal(p.t, want+"\n", got)
		return
	}
	_, err = fmt.Sscanf(got, want+"\n", args...)
	require.NoError(p.t, err, got)
}

// started waits until the agent runs.
func (p *program) started() {
	p.t.Helper()
	p.agents = make([]int, 2)
	p.expect("started %d %d", &p.agents[0], &p.agents[1])
}

// terminal waits until the command of a terminal runs.
func (p *program) terminal() {
	p.t.Helper()
	p.agents = append(p.agents, 0)
	p.expect("terminal %d", &p.agents[len(p.agents)-1])
}

func (p *program) signal(sig syscall.Signal) {
	p.t.Helper()
	if signal.Ignored(sig) {
		p.t.Skip("this signal is ignored, as under nohup: the processes of the test would ignore it too")
	}
	require.NoError(p.t, p.cmd.Process.Signal(sig))
}

// endedBy waits for the program, which must end by the signal and leave no process.
func (p *program) endedBy(sig syscall.Signal) {
	p.t.Helper()
	exit, ok := errors.AsType[*exec.ExitError](p.cmd.Wait())
	require.True(p.t, ok)
	status := exit.Sys().(syscall.WaitStatus)
	if sig == syscall.SIGQUIT { // the runtime prints the goroutines
		assert.True(p.t, status.ExitStatus() == 2 || status.Signal() == sig, "%v", status) // it may not have begun yet
	} else {
		assert.True(p.t, status.Signaled(), "exited with status %d", exit.ExitCode())
		assert.Equal(p.t, sig, status.Signal())
	}
	for _, pid := range p.agents {
		leak.CheckProcess(p.t, pid)
	}
}

var signals = map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT}

// A signal ends an example with all that it has started. An agent ignores the end of its input and
// SIGTERM, as do a process that it has started and the command of a terminal.
func TestSignals(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		args  []string
		until func(t *testing.T, p *program) // waits for the moment of the signal
	}{
		"echo": {nil, nil}, "agent": {nil, nil},
		"proxy": {[]string{self}, func(_ *testing.T, p *program) { p.started() }},
		"chat":  {[]string{"-dir", t.TempDir(), "--", self}, func(_ *testing.T, p *program) { p.started() }},
		"ask, in a turn": {[]string{"Are you there?", self}, func(_ *testing.T, p *program) {
			p.started()
			p.expect("prompt")
		}},
		"chat, with a terminal": {[]string{"-yes", "-dir", t.TempDir(), "-prompt", "work", "--", self}, func(_ *testing.T, p *program) {
			p.started()
			p.expect("prompt")
			p.terminal()
		}},
		"bridge, with a client that is still connected": {[]string{"-listen", "127.0.0.1:0", "-no-token", "--", self}, func(t *testing.T, p *program) {
			url, err := p.out.ReadString('\n')
			require.NoError(t, err)
			conn, err := remote.Dial(t.Context(), strings.TrimSpace(url), nil)
			require.NoError(t, err)
			t.Cleanup(func() { conn.Close() })
			require.NoError(t, conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)))
			p.started()
		}},
	} {
		for signalName, sig := range signals {
			if name == "chat, with a terminal" && sig == syscall.SIGINT {
				continue // it ends the turn
			}
			t.Run(name+" "+signalName, func(t *testing.T) {
				t.Parallel()
				program, _, _ := strings.Cut(name, ",")
				p := start(t, program, tt.args...)
				if tt.until != nil {
					tt.until(t, p)
				}
				p.signal(sig)
				p.endedBy(sig)
			})
		}
	}
}

func TestChatInterrupt(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	p := start(t, "chat", "-yes", "-dir", t.TempDir(), "-prompt", "work", "--", self)
	p.started()
	p.expect("prompt")
	p.terminal()
	p.signal(syscall.SIGINT)
	p.expect("cancel")
	p.signal(syscall.SIGINT)
	p.endedBy(syscall.SIGINT)
}

// An example that starts processes must call EndOnSignal, which ends them.
func TestEveryExampleEndsOnSignals(t *testing.T) {
	all, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, name := range all {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Contains(t, string(text), "stream.EndOnSignal(", name)
	}
}

// While ask waits for an agent that does not respond, it prints that it waits.
func TestAskSaysThatItWaits(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(filepath.Join(programs, "ask"), "hello", "sh", "-c", "echo Welcome; read x; read x")
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "ask: waiting for the agent to open a session; Ctrl-C ends it. Welcome\n", line)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	assert.Error(t, cmd.Wait())
}

// reportEnv names the pipe to which the deaf agent writes its reports.
const reportEnv = "EXAMPLES_TEST_REPORT"

func init() {
	plays["deaf"] = playDeaf
	plays["wait"] = stay
}

// playDeaf is an agent that ignores the end of its input and SIGTERM, as do a process
// that it starts and, if the client has terminals, the command of a terminal. It reports
// the ids of all three, each prompt and each cancel.
func playDeaf() {
	signal.Ignore(syscall.SIGTERM)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), playEnv+"=wait")
	if err := child.Start(); err != nil {
		panic(err)
	}
	report("started %d %d", os.Getpid(), child.Process.Pid)
	_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent {
		return &peertest.Agent{
			OnPrompt: func(ctx context.Context, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
				prompted(ctx, c)
				return nil, nil
			},
			OnCancel: func(context.Context, *acp.CancelNotification) error { report("cancel"); return nil },
		}
	}, nil)
	stay()
}

// stay blocks until the process is killed.
func stay() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGHUP) // no test sends SIGHUP
	<-over
}

func report(format string, args ...any) {
	f, err := os.OpenFile(os.Getenv(reportEnv), os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// prompted is the Prompt of the deaf agent. It reports the prompt, starts a command that ignores
// SIGTERM in a terminal, if the client has terminals, and never returns.
func prompted(ctx context.Context, conn *agent.Conn) {
	report("prompt")
	if conn.ClientCapabilities().Has("terminal") {
		script := `trap "" TERM; echo terminal $$ > "$1"; while :; do sleep 0.05; done`
		_, err := conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{
			SessionID: "s1", Command: "sh", Args: []string{"-c", script, "sh", os.Getenv(reportEnv)},
		})
		if err != nil {
			panic(err)
		}
	}
	select {}
}
