package order_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	peertest2 "github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// refusal is a rule of the protocol that obliges the receiver of a request to refuse it.
type refusal struct {
	rule string
	to   string // the end under test; see newRefuser
	// lines are raw messages with the id 7 that the rule forbids, by version. A version without lines does
	// not have the rule.
	lines map[int][]string
	code  int
	noID  bool // the response has the id null
	// test is the test of the part that keeps the rule, as folder and name, if that is not the
	// connection.
	test string
}

// both returns lines that are the same in both versions.
func both(lines ...string) map[int][]string { return map[int][]string{1: lines, 2: lines} }

func requestOf(method, params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`
}

func requests(method string, params ...string) (lines []string) {
	for _, p := range params {
		lines = append(lines, requestOf(method, p))
	}
	return lines
}

// opening returns requests that open a session with each system prompt.
func opening(prompts ...string) map[int][]string {
	lines := make(map[int][]string)
	for _, p := range prompts {
		for _, method := range []string{"session/new", "session/load", "session/resume", "session/fork"} {
			line := requestOf(method, `{"sessionId":"s","cwd":"/","mcpServers":[],"systemPrompt":`+p+`}`)
			lines[1] = append(lines[1], line)
			if method != "session/load" {
				lines[2] = append(lines[2], line)
			}
		}
	}
	return lines
}

const sayBrief = `[{"type":"text","text":"Be brief."}]`

var refusals = []refusal{
	{rule: "what is not JSON is a parse error", to: "agent", lines: both(`{"jsonrpc":"2.0","id":7`, `nonsense`), code: -32700, noID: true},
	{rule: "batches are not part of the protocol", to: "agent", lines: both(`[` + requestOf("session/new", `{"cwd":"/","mcpServers":[]}`) + `]`), code: -32600, noID: true},
	{rule: "a message is an object", to: "agent", lines: both(`5`, `"x"`), code: -32600, noID: true},
	{rule: "a method is a text, and a member occurs once", to: "agent",
		lines: both(`{"jsonrpc":"2.0","id":7,"method":5}`, `{"jsonrpc":"2.0","id":7,"method":"session/new","method":"session/new","params":{"cwd":"/","mcpServers":[]}}`), code: -32600},
	{rule: "an id is a text or an integer", to: "agent", noID: true, code: -32600,
		lines: map[int][]string{2: {`{"jsonrpc":"2.0","id":null,"method":"session/list"}`, `{"jsonrpc":"2.0","id":1.5,"method":"session/list"}`}}},
	{rule: "requests before initialize are refused", to: "agent, not initialized", code: -32600,
		lines: both(requests("session/new", `{"cwd":"/","mcpServers":[]}`)...)},
	{rule: "initialize names a version", to: "agent, not initialized", code: -32602,
		lines: both(requests("initialize", `{}`, `{"protocolVersion":"1"}`, `{"protocolVersion":-1}`, `{"protocolVersion":70000}`, `{"protocolVersion":null}`)...)},
	{rule: "a version that is not supported is refused", to: "agent, not initialized", code: -32022,
		lines: map[int][]string{2: requests("initialize", `{"protocolVersion":1,"info":{"name":"n","version":"v"}}`)}},
	{rule: "initialize comes before all other requests", to: "agent", code: -32600,
		lines: map[int][]string{2: {requestOf("session/list", `{}`) + "\n" + requestOf("initialize", `{"protocolVersion":2,"info":{"name":"n","version":"v"}}`)}}},
	{rule: "methods of other ends do not exist", to: "agent", code: -32601,
		lines: both(requestOf("proxy/initialize", `{}`), requestOf("session/request_permission", `{}`))},
	{rule: "a method that was not advertised does not exist", to: "agent that advertises nothing", code: -32601, lines: map[int][]string{
		1: append(requests("session/load", `{"sessionId":"s","cwd":"/","mcpServers":[]}`), append(requests("session/resume", `{"sessionId":"s","cwd":"/"}`),
			requestOf("session/list", `{}`), requestOf("session/delete", `{"sessionId":"s"}`), requestOf("session/close", `{"sessionId":"s"}`), requestOf("session/fork", `{"sessionId":"s","cwd":"/"}`),
			requestOf("session/archive", `{"sessionId":"s"}`), requestOf("session/status", `{"sessionId":"s"}`), requestOf("session/set_title", `{"sessionId":"s","title":"t"}`),
			requestOf("logout", `{}`), requestOf("providers/list", `{}`), requestOf("auth/status", `{}`))...),
		2: append(requests("session/delete", `{"sessionId":"s"}`), requestOf("session/fork", `{"sessionId":"s","cwd":"/"}`), requestOf("session/archive", `{"sessionId":"s"}`),
			requestOf("session/new", `{"cwd":"/"}`), requestOf("session/resume", `{"sessionId":"s","cwd":"/"}`), requestOf("session/list", `{}`), requestOf("providers/list", `{}`)),
	}},
	{rule: "params that break the schema are refused", to: "agent", code: -32602,
		lines: both(requests("session/new", `{}`, `[]`, `{"cwd":5,"mcpServers":[]}`, `{"cwd":"/","cwd":"/","mcpServers":[]}`, `{"cwd":"/","mcpServers":5}`)...)},
	{rule: "folders are absolute", to: "agent", code: -32602,
		lines: both(requests("session/new", `{"cwd":"x","mcpServers":[]}`, `{"cwd":"/","mcpServers":[],"additionalDirectories":["x"]}`)...)},
	{rule: "a prompt is not empty", to: "agent", code: -32602, lines: map[int][]string{2: requests("session/prompt", `{"sessionId":"s","prompt":[]}`)}},

	{rule: "a system prompt needs the capability", to: "agent", code: -32602,
		lines: opening(`{"mode":"append","content":`+sayBrief+`}`, `{"mode":"override","content":`+sayBrief+`}`)},
	{rule: "a system prompt needs the capability, also when nothing is advertised", to: "agent that advertises nothing", code: -32602,
		lines: map[int][]string{1: requests("session/new", `{"cwd":"/","mcpServers":[],"systemPrompt":{"mode":"append","content":`+sayBrief+`}}`)}},
	{rule: "override needs its capability", to: "agent that appends system prompts", code: -32602, lines: opening(`{"mode":"override","content":` + sayBrief + `}`)},
	{rule: "a system prompt that cannot be applied is refused", to: "agent that applies system prompts", code: -32602, lines: opening(
		`{}`, `5`, `{"mode":"append"}`, `{"mode":5,"content":`+sayBrief+`}`, `{"mode":"bogus","content":`+sayBrief+`}`, `{"mode":"","content":`+sayBrief+`}`,
		`{"mode":"append","content":[]}`, `{"mode":"append","content":null}`, `{"mode":"append","content":[{"type":"text","text":" \n"}]}`,
		`{"mode":"append","content":[{"type":"text","text":"x"},{"type":"image","data":"","mimeType":"image/png"}]}`,
		`{"mode":"append","mode":"append","content":`+sayBrief+`}`, `null,"systemPrompt":{"mode":"append","content":`+sayBrief+`}`)},

	{rule: "MCP servers have different names and advertised transports", to: "agent", code: -32602, lines: map[int][]string{2: requests("session/new",
		`{"cwd":"/","mcpServers":[{"type":"http","name":"m","url":"https://m.test"}]}`, `{"cwd":"/","mcpServers":[{"type":"sse","name":"m","url":"https://m.test"}]}`)}},
	{rule: "a replay begins at a cursor that is supported", to: "agent", code: -32602, lines: map[int][]string{2: requests("session/resume",
		`{"sessionId":"s","cwd":"/","replayFrom":{"type":"cursor","cursor":"c"}}`, `{"sessionId":"s","cwd":"/","replayFrom":{"type":5}}`, `{"sessionId":"s","cwd":"/","replayFrom":{}}`)}},
	{rule: "a filter for archived sessions is supported", to: "agent", code: -32602, lines: both(requests("session/list", `{"archived":"bogus"}`, `{"archived":5}`)...)},
	{rule: "what cannot be cancelled is not", to: "small agent", code: -32602, lines: map[int][]string{2: {
		requestOf("tool_call/cancel", `{"sessionId":"s","toolCallId":"c"}`), requestOf("terminal/cancel", `{"sessionId":"s","terminalId":"t"}`)}}},
	{rule: "modes, options and values are those that were listed", test: "agent/kit/TestSettings"},
	{rule: "sessions exist, and belong to the user", test: "agent/kit/TestOwners"},
	{rule: "a cursor of a list is from that list", test: "agent/kit/TestList"},
	{rule: "sessions need the user to sign in first, if the agent says so", test: "agent/kit/TestSigningIn"},

	{rule: "methods of other ends do not exist for a client", to: "client", code: -32601,
		lines: both(requestOf("session/new", `{}`), requestOf("proxy/successor", `{}`))},
	{rule: "files and terminals that were not advertised do not exist", to: "client that advertises nothing", code: -32601, lines: map[int][]string{
		1: {requestOf("fs/read_text_file", `{"sessionId":"s","path":"/x"}`), requestOf("fs/write_text_file", `{"sessionId":"s","path":"/x","content":""}`),
			requestOf("terminal/create", `{"sessionId":"s","command":"ls"}`), requestOf("terminal/output", `{"sessionId":"s","terminalId":"t"}`),
			requestOf("terminal/wait_for_exit", `{"sessionId":"s","terminalId":"t"}`), requestOf("terminal/kill", `{"sessionId":"s","terminalId":"t"}`), requestOf("terminal/release", `{"sessionId":"s","terminalId":"t"}`)},
	}},
	{rule: "a mode of an elicitation that was not advertised is refused", to: "client that advertises nothing", code: -32602, lines: both(requests("elicitation/create",
		`{"requestId":1,"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`, `{"requestId":1,"message":"m","mode":"url","elicitationId":"e","url":"https://x.test"}`)...)},
	{rule: "pages are on the web, and a question has a scope", to: "client", code: -32602, lines: both(requests("elicitation/create",
		`{"requestId":1,"message":"m","mode":"url","elicitationId":"e","url":"javascript:x"}`, `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`)...)},
	{rule: "a question has one scope", to: "client", code: -32602, lines: map[int][]string{2: requests("elicitation/create",
		`{"sessionId":"s","requestId":1,"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`)}},
	{rule: "a permission has options", to: "client", code: -32602, lines: map[int][]string{2: requests("session/request_permission", `{"sessionId":"s","title":"t","options":[]}`)}},
	{rule: "a terminal exists", test: "client/terminals/TestForeignTerminals"},
}

// refuser is an end under test, and the peer that plays raw lines to it.
type refuser struct {
	peer  *rawpeer.Peer
	calls *atomic.Int32 // of the handlers, except those of initialize and extensions
}

// A rule that obliges a receiver to refuse is kept whether or not its author thought of it, in both
// versions and over each transport: the response has the code, no handler is called, and the
// connection goes on.
func TestRefusals(t *testing.T) {
	for _, over := range []profile{"stdio", overWebSocket, overHTTP} {
		for version := 1; version <= 2; version++ {
			for _, r := range refusals {
				if r.lines[version] == nil {
					continue
				}
				t.Run(string(over)+"/"+string(rune('0'+version))+"/"+r.rule, func(t *testing.T) {
					if over == overHTTP && (r.noID || strings.HasPrefix(r.rule, "initialize comes") || strings.HasSuffix(r.to, "not initialized") || strings.HasPrefix(r.to, "client")) {
						t.Skip("the transport answers with a status, or the agent's requests need its stream")
					}
					if over == overWebSocket && (r.to == "agent, not initialized" || strings.HasPrefix(r.to, "client")) {
						t.Skip("the transport ends the connection")
					}
					e := newRefuser(t, over, version, r.to)
					for _, line := range r.lines[version] {
						e.calls.Store(0)
						lines := strings.Split(line, "\n")
						for _, l := range lines[:len(lines)-1] {
							e.peer.Send("%s", l)
							e.peer.Next()
							e.calls.Store(0)
						}
						e.peer.Send("%s", lines[len(lines)-1])
						m := e.peer.Next()
						if !assert.NotNil(t, m.Error, "%s\n%s", line, m.Raw) {
							continue
						}
						assert.Equal(t, r.code, m.Error.Code, "%s\n%s", line, m.Raw)
						id := "7"
						if r.noID {
							id = "null"
						}
						assert.Equal(t, id, string(m.ID), line)
						assert.Zero(t, e.calls.Load(), "a handler was called: %s", line)
					}
					if !strings.HasSuffix(r.to, "not initialized") {
						e.peer.Send(`{"jsonrpc":"2.0","id":"after","method":"_echo","params":{"n":1}}`)
						assert.JSONEq(t, `{"n":1}`, string(e.peer.Next().Result), "the connection goes on")
					}
				})
			}
		}
	}
}

// Each rule has lines, or a test that exists.
func TestRefusalsHaveAnOwner(t *testing.T) {
	for _, r := range refusals {
		if len(r.lines) > 0 {
			assert.Empty(t, r.test, r.rule)
			continue
		}
		folder, name := filepath.Split(r.test)
		files, err := filepath.Glob(filepath.Join("../../../..", folder, "*_test.go"))
		require.NoError(t, err)
		found := false
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				found = found || ok && fn.Name.Name == name
			}
		}
		assert.True(t, found, "%s: there is no %s", r.rule, r.test)
	}
}

// newRefuser connects the end that to names, and initializes it unless to says otherwise.
func newRefuser(t *testing.T, over profile, version int, to string) *refuser {
	var near, far stream.Stream
	if over == "stdio" {
		near, far = stream.Pipe()
	} else {
		near, far = over.connect(t)
	}
	e := &refuser{peer: rawpeer.New(t, far), calls: new(atomic.Int32)}
	do := func(_ context.Context, method string, _ any) (any, error) {
		if method != "initialize" && !strings.HasPrefix(method, "_") {
			e.calls.Add(1)
		}
		return nil, nil
	}
	quiet := slog.New(slog.DiscardHandler)
	if strings.HasPrefix(to, "client") {
		e.client(t, near, version, to != "client", do)
		return e
	}
	a := refusingAgents{do: do, to: to}
	if version == 1 {
		rawpeer.Start(t, agent.New(near, func(*agent.Conn) acp.Agent { return a.v1() }, &agent.Options{Unstable: true, Logger: quiet}))
		e.begin(to, peertest.Params["initialize"])
	} else {
		rawpeer.Start(t, agent2.New(near, func(*agent2.Conn) acp2.Agent { return a.v2() }, &agent2.Options{Unstable: true, Logger: quiet}))
		e.begin(to, peertest2.Params["initialize"])
	}
	return e
}

func (e *refuser) begin(to, params string) {
	if !strings.HasSuffix(to, "not initialized") {
		e.peer.Call(`"first"`, "initialize", params)
		e.peer.Next()
	}
}

// client starts a client that has every method, and advertises nothing if closed is set.
func (e *refuser) client(t *testing.T, near stream.Stream, version int, closed bool, do peertest.Do) {
	quiet := slog.New(slog.DiscardHandler)
	done := make(chan error, 1)
	if version == 1 {
		c := rawpeer.Start(t, client.New(near, func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} }, &client.Options{Unstable: true, Logger: quiet}))
		req := &acp.InitializeRequest{}
		if closed {
			req.ClientCapabilities = &acp.ClientCapabilities{}
		}
		go func() { _, err := c.Initialize(t.Context(), req); done <- err }() // ends with the call
		e.peer.Initialize(`{}`)
	} else {
		c := rawpeer.Start(t, client2.New(near, func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} }, &client2.Options{Unstable: true, Logger: quiet}))
		req := &acp2.InitializeRequest{}
		if closed {
			req.Capabilities = &acp2.ClientCapabilities{}
		}
		go func() { _, err := c.Initialize(t.Context(), req); done <- err }() // ends with the call
		e.peer.Answer(e.peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"n","version":"v"},"capabilities":{}}`)
	}
	require.NoError(t, <-done)
}

// refusingAgents makes the agents under test.
type refusingAgents struct {
	do peertest.Do
	to string
}

func (r refusingAgents) modes(mode acp.SystemPromptMode) bool {
	return r.to == "agent that applies system prompts" || r.to == "agent that appends system prompts" && mode == acp.SystemPromptModeAppend
}

type (
	promptable1 struct {
		peertest.FullAgent
		refusingAgents
	}
	promptable2 struct {
		peertest2.FullAgent
		refusingAgents
	}
	smallAgent2 struct{ acp2.Agent }
	smallAgent1 struct{ acp.Agent }
)

func (p *promptable1) AppliesSystemPrompt(mode acp.SystemPromptMode) bool { return p.modes(mode) }
func (p *promptable2) AppliesSystemPrompt(mode acp.SystemPromptMode) bool { return p.modes(mode) }

func (a smallAgent1) HandleExtension(_ context.Context, _ string, p json.RawMessage) (any, error) {
	return p, nil
}

func (a smallAgent2) HandleExtension(_ context.Context, _ string, p json.RawMessage) (any, error) {
	return p, nil
}

func (r refusingAgents) v1() acp.Agent {
	full := peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		if method == "initialize" && r.to == "agent that advertises nothing" {
			return &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{}}, nil
		}
		return r.do(ctx, method, params)
	}}
	if r.to == "small agent" {
		return smallAgent1{&full}
	}
	return &promptable1{full, r}
}

func (r refusingAgents) v2() acp2.Agent {
	full := peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		if method == "initialize" && r.to == "agent that advertises nothing" {
			return &acp2.InitializeResponse{Info: acp2.Implementation{Name: "n", Version: "v"}, Capabilities: &acp2.AgentCapabilities{}}, nil
		}
		return r.do(ctx, method, params)
	}}
	if r.to == "small agent" {
		return smallAgent2{&full}
	}
	return &promptable2{full, r}
}
