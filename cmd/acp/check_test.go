package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	protocol "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acptest"
	sdk "github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// fast are checks that take no time with any agent.
const fast = "ACP-INIT-001,ACP-INIT-003,ACP-JSONRPC-004"

func init() {
	// echo is an agent that is right.
	plays["echo"] = func([]string) {
		err := sdk.Serve(context.Background(), stream.Stdio(), func(*sdk.Conn) protocol.Agent { return echo{} }, nil)
		if err != nil {
			os.Exit(1)
		}
	}
	// quits is a program that lacks what it needs.
	plays["quits"] = func([]string) {
		fmt.Println("starting")
		fmt.Fprintln(os.Stderr, "set API_KEY first")
		os.Exit(3)
	}
	// client is a client that is right: it starts the agent, opens a session and sends a prompt.
	plays["client"] = func(args []string) {
		process, err := stream.Command(exec.Command(args[0]), nil)
		if err != nil {
			os.Exit(1)
		}
		ctx := context.Background()
		conn, err := client.Connect(ctx, process, func(*client.Conn) protocol.Client { return struct{ protocol.Client }{} }, nil)
		if err != nil {
			os.Exit(1)
		}
		defer conn.Close()
		if session, err := conn.StartSession(ctx, &protocol.NewSessionRequest{Cwd: args[1]}); err == nil {
			_, _ = session.Prompt(ctx, protocol.Text("hello")).Wait() // the check ends it
		}
	}
}

type echo struct{ protocol.Agent }

func (echo) Initialize(context.Context, *protocol.InitializeRequest) (*protocol.InitializeResponse, error) {
	return &protocol.InitializeResponse{AgentInfo: &protocol.Implementation{Name: "test agent", Version: "1"}}, nil
}

// runAcp runs the command and returns its output, what it said on standard error, and its exit code.
func runAcp(t *testing.T, args ...string) (out, said string, code int) {
	cmd := acp(t.TempDir(), args...)
	got := run(t, cmd, nil)
	return got.out, got.err, cmd.ProcessState.ExitCode()
}

// A report says what is wrong, in each form, and the exit code whether something is.
func TestCheckReports(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		out, progress, code := runAcp(t, "check", "agent", "-only", fast, "--", os.Args[0], "play", "echo")
		assert.Zero(t, code, out)
		assert.Contains(t, progress, "PASS         ACP-INIT-001")
		assert.Contains(t, out, "agent test agent 1, version 1 of the protocol: 3 pass, 0 fail, 0 skipped, 0 inconclusive")
	})
	t.Run("a failure", func(t *testing.T) {
		out, _, code := runAcp(t, "check", "agent", "-wait", "1s", "-only", fast, "-env", "A=b c", "--", os.Args[0], "play", "mirror")
		assert.Equal(t, 1, code)
		assert.Contains(t, out, "FAIL ACP-INIT-001")
		assert.Contains(t, out, "acp check agent -only ACP-INIT-001 -wait 1s -env 'A=b c' -- "+os.Args[0]+" play mirror")
		assert.Contains(t, out, "docs/checks.md#acp-init-001")
	})
	t.Run("JSON", func(t *testing.T) {
		out, _, code := runAcp(t, "check", "agent", "-json", "-only", fast, "-skip", "ACP-INIT-003=known", "--", os.Args[0], "play", "echo")
		assert.Zero(t, code)
		var report jsonReport
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.Len(t, report.Results, 3)
		assert.Equal(t, "known", report.Results[1].Reason)
		assert.Equal(t, "acp check agent -only ACP-INIT-001 -json -skip ACP-INIT-003=known -- "+os.Args[0]+" play echo", report.Results[0].Command)
	})
	t.Run("JUnit", func(t *testing.T) {
		out, _, code := runAcp(t, "check", "agent", "-junit", "-wait", "1s", "-only", fast, "--", os.Args[0], "play", "mirror")
		assert.Equal(t, 1, code)
		var suite junitSuite
		require.NoError(t, xml.Unmarshal([]byte(out), &suite))
		assert.Equal(t, 3, suite.Tests)
		assert.Equal(t, 1, suite.Failures)
		assert.Equal(t, 2, suite.Skipped)
	})
}

func TestCheckBadUse(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		want string
	}{
		"no role":             {"", "usage:"},
		"another role":        {"editor", `not "editor"`},
		"no command":          {"agent", "needs the command"},
		"no agent's place":    {"client -- cat", "has {agent} where"},
		"another transport":   {"client -transport tcp -- cat {url}", "ws or http"},
		"a command not found": {"agent -- no-such-agent", "was not found"},
		"an unknown check":    {"agent -only X -- cat", `no check "X"`},
		"an unknown prompt":   {"agent -prompt fly=x -- cat", `no prompt "fly"`},
		"a prompt without =":  {"agent -prompt fly -- cat", "NAME=TEXT"},
		"another version":     {"agent -protocol 3 -- cat", "1, 2 or newest"},
		"another model":       {"agent -model mine -- cat", "anthropic, openai and responses"},
		"two forms":           {"agent -json -junit -- cat", "one form"},
		"a URL and more":      {"agent ws://127.0.0.1:1/ x", "stands alone"},
		"nobody listens":      {"agent ws://127.0.0.1:1/", "cannot be reached"},
		"it ends":             {"agent -- " + os.Args[0] + " play quits", "has ended before it has responded to initialize. Its standard error:\nset API_KEY first\n"},
		"no folder":           {"agent -cwd " + filepath.Join(t.TempDir(), "none") + " -- cat", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, said, code := runAcp(t, append([]string{"check"}, strings.Fields(c.args)...)...)
			assert.Contains(t, said, c.want)
			assert.NotZero(t, code)
		})
	}
}

// A client starts the program in place of {agent}, which is acp itself, and finds the check.
func TestCheckClient(t *testing.T) {
	const only = "AKC-INIT-001,AKC-SESSION-001,AKC-SESSION-003"
	out, _, code := runAcp(t, "check", "client", "-only", only, "--", os.Args[0], "play", "client", "{agent}", "{cwd}")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "version 1 of the protocol: 3 pass, 0 fail, 0 skipped, 0 inconclusive")

	// It is started in the folder of its session, but its path is relative to that of the command.
	t.Chdir(filepath.Dir(os.Args[0]))
	self := "." + string(filepath.Separator) + filepath.Base(os.Args[0])
	out, said, code := runAcp(t, "check", "client", "-only", only, "--", self, "play", "client", "{agent}", "{cwd}")
	assert.Zero(t, code, out+said)
}

// Who has not named a version learns that the one in use was not checked.
func TestCheckOfNewestVersion(t *testing.T) {
	const hint = "Version 1, which most programs speak, was not checked: -protocol 1 does so."
	for _, o := range []checkOptions{{protocol: "newest"}, {protocol: "2"}} {
		for v := range 3 {
			var b strings.Builder
			require.NoError(t, o.printText(&b, &acptest.Report{Role: "agent", Version: v}))
			assert.Equal(t, v == 2 && o.protocol == "newest", strings.Contains(b.String(), hint), b.String())
			assert.NotContains(t, b.String(), "version 0")
		}
	}
}
