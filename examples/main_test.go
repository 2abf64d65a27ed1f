package examples_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// playEnv is the environment variable that selects the agent that the test binary runs.
const playEnv = "EXAMPLES_TEST_AGENT"

// programsEnv names a folder with the built examples, for systems without a go command.
const programsEnv = "EXAMPLES_TEST_PROGRAMS"

// plays has the agents that playEnv can select.
var plays = map[string]func(){}

// speak has programs that are not agents. Their arguments follow the name.
var speak = map[string]func(args []string){
	// print writes to standard output and standard error, and exits with a code.
	"print": func(args []string) {
		fmt.Fprint(os.Stdout, args[0])
		fmt.Fprint(os.Stderr, args[1])
		code, err := strconv.Atoi(args[2])
		if err != nil {
			panic(err)
		}
		os.Exit(code)
	},
	// stream is an agent that sends text until it is cancelled.
	"stream": func([]string) {
		_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent {
			return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
				for ctx.Err() == nil {
					if err := c.Session(req.SessionID).Message(ctx, "x"); err != nil {
						return nil, err
					}
				}
				return nil, context.Cause(ctx)
			}}
		}, nil)
	},
	// respond prints one line for each that it reads, and ends with its input. Its log is
	// one line too.
	"respond": func(args []string) {
		fmt.Fprintln(os.Stderr, "the model is not loaded")
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if len(args) > 0 {
				fmt.Println(args[0])
				args = args[1:]
			}
		}
	},
}

// programs is the folder with the built examples.
var programs string

func TestMain(m *testing.M) {
	if play := plays[os.Getenv(playEnv)]; play != nil {
		play()
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "speak" {
		speak[os.Args[2]](os.Args[3:])
		return
	}
	_ = flag.Set("test.parallel", "32") // the tests wait for processes that end late, not for processors
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if programs = os.Getenv(programsEnv); programs != "" {
		return m.Run(), nil
	}
	if programs, err = os.MkdirTemp("", "examples"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(programs)
	all, err := filepath.Glob("*/main.go")
	if err != nil {
		return 0, err
	}
	build := exec.Command("go", "build", "-ldflags=-w", "-o", programs)
	for _, main := range all {
		build.Args = append(build.Args, "./"+filepath.Dir(main))
	}
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return m.Run(), nil
}
