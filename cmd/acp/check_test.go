package main

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	protocol "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acptest"
	sdk "github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// credential is in the standard error of an agent, and in no report.
const credential = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// hostile clears the screen, sets the title of the terminal, turns text round, begins a line of its own, and
// has what cannot be seen.
const hostile = "x\x1b[2J\x1b]0;t\a\u202ebidi\u2066\nPASS a line\r\u0085\u2028\u009b31m\x7f\u200b\ufeff"

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
	// crash is an agent that ends when a session is started, and says why, with a credential and a
	// sequence that clears the screen.
	plays["crash"] = func(args []string) {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			if strings.Contains(in.Text(), "session/new") {
				fmt.Fprintf(os.Stderr, "%s\x1b[2Japi_key=%s\npanic: no model \u202e\n", strings.Repeat("a line of a log\n", 2000), credential)
				if len(args) > 0 {
					self, _ := os.FindProcess(os.Getpid())
					_ = self.Kill()
				}
				os.Exit(3)
			}
			var m struct{ ID json.RawMessage }
			_ = json.Unmarshal(in.Bytes(), &m)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"authMethods":[],"agentCapabilities":{}}}`+"\n", m.ID)
		}
	}
	// locked is an agent that starts no session, with a code, and signs nobody in.
	plays["locked"] = func(args []string) {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.Unmarshal(in.Bytes(), &m)
			answer := fmt.Sprintf(`"error":{"code":%s,"message":"no \u001b[2Jsession"}`, args[0])
			if m.Method == "initialize" {
				answer = `"result":{"protocolVersion":1,"authMethods":[{"id":"key","name":"A key"}]}`
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
		}
	}
	// hostile is an agent all of whose texts are made to fool a terminal.
	plays["hostile"] = func([]string) {
		text, _ := json.Marshal(hostile)
		update := func(u string) {
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":%s}}}`+"\n", text, strings.ReplaceAll(u, "?", string(text)))
		}
		fmt.Println("a banner " + strings.ReplaceAll(hostile, "\n", ""))
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.Unmarshal(in.Bytes(), &m)
			answer := `"error":{"code":-32601,"message":?,"data":?}`
			switch m.Method {
			case "initialize":
				answer = `"result":{"protocolVersion":1,"agentInfo":{"name":?,"version":?},"authMethods":[{"id":?,"name":?}],"agentCapabilities":{"sessionCapabilities":{"list":{}}}}`
			case "session/new":
				answer = `"result":{"sessionId":?}`
			case "session/list":
				answer = `"result":{"sessions":[{"sessionId":?,"cwd":?,"title":?}]}`
			case "session/prompt":
				update(`"agent_message_chunk","content":{"type":"text","text":?}`)
				update(`"tool_call","toolCallId":?,"title":?,"kind":?,"status":?,"locations":[{"path":?}],"rawInput":{?:?}`)
				update(`?,"x":?`)
				update(`"session_info_update","title":?`)
				update(`"plan","entries":[{"content":?,"priority":?,"status":?}]`)
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"method":%[1]s,"params":{%[1]s:%[1]s}}`+"\n", text)
				answer = `"result":{"stopReason":?}`
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, strings.ReplaceAll(answer, "?", string(text)))
		}
		fmt.Fprintln(os.Stderr, hostile)
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
		assert.Equal(t, []string{"FAIL", "INCONCLUSIVE", "INCONCLUSIVE"}, []string{suite.Cases[0].Failure.Type, suite.Cases[1].Skipped.Type, suite.Cases[2].Skipped.Type})
	})
}

// A report shows how an agent has crashed: its status or signal and the last lines of standard error,
// masked and clean for a terminal.
func TestCheckShowsCrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		exit string
	}{
		"a status": {[]string{os.Args[0], "play", "crash"}, "exit status 3"},
		"a signal": {[]string{os.Args[0], "play", "crash", "kill"}, "signal: killed"},
	} {
		if runtime.GOOS == "windows" && c.exit != "exit status 3" {
			continue // it has no signals
		}
		for _, form := range []string{"-text", "-json", "-junit"} {
			t.Run(name+form, func(t *testing.T) {
				t.Parallel()
				flags := []string{"check", "agent", "-protocol", "1", "-only", "ACP-SESSION-001", form, "--"}
				if form == "-text" {
					flags = slices.Delete(flags, 6, 7)
				}
				out, _, code := runAcp(t, append(flags, c.args...)...)
				assert.Equal(t, 1, code)
				assert.Contains(t, out, c.exit)
				assert.Contains(t, out, "api_key=[masked]")
				assert.Contains(t, out, "panic: no model")
				assert.LessOrEqual(t, strings.Count(out, "a line of a log"), 20)
				for _, bad := range []string{credential, "\x1b", `\u001b`, "\u202e", "&#x1B;"} {
					assert.NotContains(t, out, bad)
				}
			})
		}
	}
}

// A run that could start no session is not green, and says what to pass.
func TestCheckWithoutSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code, auth string
		want       string
	}{
		"a sign-in that is needed": {"-32000", "", `acp: session/new failed with -32000 (no \x1b[2Jsession), so nothing that needs a session was checked. Pass -auth METHOD ("key")`},
		"a sign-in that fails":     {"-32000", "key", `acp: The sign-in by "key" failed with -32000`},
		"another failure":          {"-32603", "", `acp: session/new failed with -32603`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, said, code := runAcp(t, "check", "agent", "-protocol", "1", "-only", "ACP-INIT-001,ACP-SESSION-001,ACP-PROMPT-001", "-auth", c.auth, "--", os.Args[0], "play", "locked", c.code)
			assert.Equal(t, 2, code)
			assert.Contains(t, said, c.want)
		})
	}
}

// What is inconclusive is told from what is skipped, and with -strict it counts.
func TestCheckStrict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags []string
		code  int
		want  map[string]string // the element of a check in JUnit, and its type
	}{
		{nil, 0, map[string]string{"ACP-INIT-001": "", "ACP-LIST-002": "skipped SKIP", "AK-PERM-002": "skipped INCONCLUSIVE"}},
		{[]string{"-strict"}, 3, map[string]string{"ACP-INIT-001": "", "ACP-LIST-002": "skipped SKIP", "AK-PERM-002": "error INCONCLUSIVE"}},
	} {
		args := []string{"-junit", "-protocol", "1", "-skip", "ACP-LIST-002=known", "-only", "ACP-INIT-001,ACP-LIST-002,AK-PERM-002", "--", os.Args[0], "play", "bold"}
		out, _, code := runAcp(t, slices.Concat([]string{"check", "agent"}, c.flags, args)...)
		assert.Equal(t, c.code, code)
		var suite junitSuite
		require.NoError(t, xml.Unmarshal([]byte(out), &suite))
		got, n := map[string]string{}, map[string]int{"skipped": 0, "error": 0, "failure": 0}
		for _, one := range suite.Cases {
			got[one.Name] = ""
			for element, text := range map[string]*junitText{"failure": one.Failure, "error": one.Error, "skipped": one.Skipped} {
				if text != nil {
					got[one.Name], n[element] = element+" "+text.Type, n[element]+1
				}
			}
		}
		assert.Equal(t, c.want, got)
		assert.Equal(t, n, map[string]int{"skipped": suite.Skipped, "error": suite.Errors, "failure": suite.Failures})
	}
}

// What a peer sends is clean for a terminal in each output of the commands.
func TestTextOfPeersIsClean(t *testing.T) {
	t.Parallel()
	clean := func(name, text string) {
		assert.Contains(t, text, "bidi", name)
		assert.Equal(t, safetext.Lines(text, len(text)), text, name)
		assert.NotContains(t, text, "\nPASS a line", name)
	}
	const only = "ACP-INIT-001,ACP-SESSION-001,ACP-PROMPT-001,ACP-SCHEMA-001,ACP-LIST-002,AK-METHOD-001"
	for _, form := range []string{"-strict", "-json", "-junit"} {
		out, said, code := runAcp(t, "check", "agent", form, "-protocol", "1", "-wait", "1s", "-only", only, "--", os.Args[0], "play", "hostile")
		assert.Equal(t, 1, code)
		clean(form, out)
		assert.Equal(t, safetext.Lines(said, len(said)), said, form)
	}
	state := t.TempDir()
	var in strings.Builder
	for i, method := range []string{"initialize", "session/new", "session/list", "session/prompt"} {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"protocolVersion":1,"cwd":"/w","mcpServers":[],"prompt":[]}}`+"\n", i, method)
	}
	run(t, acp(state, "tap", "--", os.Args[0], "play", "hostile", hostile), strings.NewReader(in.String()))
	clean("view", run(t, acp(state, "view", "-text"), nil).out)
	clean("recordings", run(t, acp(state, "recordings"), nil).out)
}

func TestCheckBadUse(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
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
		"nor for HTTP":        {"agent http://127.0.0.1:1/", "cannot be reached"},
		"another server":      {"agent " + elsewhere.URL, "cannot be reached"},
		"it ends":             {"agent -- " + os.Args[0] + " play quits", "has ended before it has responded to initialize (exit status 3). The end of its standard error:\nset API_KEY first\n"},
		"no folder":           {"agent -cwd " + filepath.Join(t.TempDir(), "none") + " -- cat", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, said, code := runAcp(t, append([]string{"check"}, strings.Fields(c.args)...)...)
			assert.Contains(t, said, c.want)
			want := 2
			if name == "a command not found" {
				want = 127 // as a shell has it
			}
			assert.Equal(t, want, code)
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
