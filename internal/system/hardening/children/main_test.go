//go:build unix

package children_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// The test binary plays the agents as well, when this variable names one of the roles.
const roleEnv = "ACPKIT_TEST_ROLE"

var roles = map[string]func(){
	"plain": func() { serve(stream.Stdio(), nil) },
	"noisy": playNoisy,
	"chatty": func() {
		serve(stream.Stdio(), func() {
			line := []byte(strings.Repeat("x", 999) + "\n")
			for range 100 << 20 / len(line) {
				if _, err := os.Stderr.Write(line); err != nil {
					os.Exit(8) // the reader of stderr is gone
				}
			}
		})
	},
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		serve(stream.Stdio(), nil)
		over := make(chan os.Signal, 1)
		signal.Notify(over, syscall.SIGHUP) // no test sends SIGHUP
		<-over                              // the end of its input does not end the process either
	},
	"parent": func() {
		s := stream.Stdio()
		// The grandchild holds the pipe of standard error, and ignores what the group is
		// asked.
		child := exec.Command("sh", "-c", `trap "" TERM; sleep 1000`)
		child.Stderr = os.Stderr
		check(child.Start())
		family = append(family, child.Process.Pid)
		serve(s, nil)
	},
	"quits at once": func() { quit("no such model", 3) },
	"quits": func() {
		serve(stream.Stdio(), func() { quit("the key is wrong", 4) })
	},
	"leaves": func() {
		serve(stream.Stdio(), func() { quit("nothing to do", 0) })
	},
}

// TestMain keeps what the tests provoke out of their output.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if role := roles[os.Getenv(roleEnv)]; role != nil {
		role()
		return
	}
	os.Exit(m.Run())
}

// family are the processes of an agent, which it tells in each turn.
var family = []int{os.Getpid(), os.Getppid()}

// serve plays an agent until its client is gone. It dies when it is asked to.
func serve(s stream.Stream, initialize func()) {
	newAgent := func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{
			OnInitialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
				if initialize != nil {
					initialize()
				}
				return nil, nil
			},
			OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
				if acp.PlainText(req.Prompt...) == "die" {
					quit("killed by its own work", 5)
				}
				for _, pid := range family {
					if err := conn.Session(req.SessionID).Message(ctx, fmt.Sprint(pid, " ")); err != nil {
						return nil, err
					}
				}
				return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
			},
		}
	}
	check(agent.Serve(context.Background(), s, newAgent, nil))
}

func quit(words string, status int) {
	fmt.Fprintln(os.Stderr, words)
	os.Exit(status)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// noise is what an agent prints that means no harm: banners, warnings, half of a
// message, a value of another kind.
var noise = []string{"Welcome!", `{"level":"warn",`, "[1,2]", "WARN {x}", `"done"`, "\x1b[2J{"}

// playNoisy prints noise before its first message and between all others, on the
// standard output itself. When it was sent anything but requests and notifications it
// dies: noise must not be answered.
func playNoisy() {
	for _, line := range noise {
		fmt.Println(line)
	}
	var n atomic.Int64
	out := writer(func(b []byte) (int, error) {
		fmt.Println(noise[n.Add(1)%int64(len(noise))])
		return os.Stdout.Write(b)
	})
	serve(listener{stream.Lines(os.Stdin, out, nil)}, nil)
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

type listener struct{ stream.Stream }

func (l listener) Read() ([]byte, error) {
	msg, err := l.Stream.Read()
	if err == nil && !strings.Contains(string(msg), `"method":`) {
		quit("somebody answered: "+string(msg), 6)
	}
	if err != nil && err != io.EOF {
		quit(err.Error(), 7)
	}
	return msg, err
}
