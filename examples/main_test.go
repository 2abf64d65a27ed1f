//go:build unix

package examples_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

// The test binary plays the agents as well: this variable says which, and report names
// the pipe to which the agent writes what happens to it.
const (
	playEnv   = "EXAMPLES_TEST_AGENT"
	reportEnv = "EXAMPLES_TEST_REPORT"
)

// programs is the folder that holds the examples, built.
var programs string

func TestMain(m *testing.M) {
	switch os.Getenv(playEnv) {
	case "deaf":
		playDeaf()
		return
	case "wait":
		stay()
		return
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if programs, err = os.MkdirTemp("", "examples"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(programs)
	all, err := filepath.Glob("*/main.go")
	if err != nil {
		return 0, err
	}
	build := exec.Command("go", "build", "-o", programs)
	for _, main := range all {
		build.Args = append(build.Args, "./"+filepath.Dir(main))
	}
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return m.Run(), nil
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
	_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return deaf{c} }, nil)
	stay()
}

// stay lives until it is killed.
func stay() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGHUP) // nobody sends it
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

type deaf struct{ conn *agent.Conn }

func (deaf) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (deaf) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (d deaf) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	report("prompt")
	if d.conn.ClientCapabilities().Has("terminal") {
		script := `trap "" TERM; echo terminal $$ > "$1"; while :; do sleep 0.05; done`
		_, err := d.conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{
			SessionID: req.SessionID, Command: "sh", Args: []string{"-c", script, "sh", os.Getenv(reportEnv)},
		})
		if err != nil {
			panic(err)
		}
	}
	select {}
}

func (deaf) Cancel(context.Context, *acp.CancelNotification) error {
	report("cancel")
	return nil
}
