//go:build unix

package examples_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

// reportEnv names the pipe to which the deaf agent writes what happens to it.
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
	_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return deaf{c} }, nil)
	stay()
}

// stay lives until it is killed.
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
