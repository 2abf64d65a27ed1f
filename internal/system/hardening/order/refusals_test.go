package order_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/weblink/weblinktest"
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
	// should is set for a rule that does not oblige the receiver: the protocol says that it should refuse, or
	// obliges the sender alone. does says what is done about it, and is required for such a rule.
	should bool
	does   string
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

const memberOnce = "a member of params occurs once"

// page returns the params of a request to open a link.
func page(link string) string {
	url, _ := json.Marshal(link)
	return `{"requestId":1,"message":"m","mode":"url","elicitationId":"e","url":` + string(url) + `}`
}

// pages returns requests to open links that a client must refuse: not to a web page, or with a host that a person misreads.
func pages() map[int][]string {
	var lines []string
	for _, link := range weblinktest.False {
		lines = append(lines, requestOf("elicitation/create", page(link)))
	}
	return both(lines...)
}

const sayBrief = `[{"type":"text","text":"Be brief."}]`

// openings returns requests that open a session with these members.
func openings(version int, members string) (lines []string) {
	methods := []string{"session/new", "session/resume", "session/fork", "session/load"}
	for _, method := range methods[:5-version] { // version 2 has no session/load
		lines = append(lines, requestOf(method, `{"sessionId":"s","cwd":"/",`+members+`}`))
	}
	return lines
}

func withServers(version int, servers ...string) (lines []string) {
	for _, s := range servers {
		lines = append(lines, openings(version, `"mcpServers":[`+s+`]`)...)
	}
	return lines
}

func prompts(blocks ...string) (lines []string) {
	for _, b := range blocks {
		lines = append(lines, requestOf("session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"x"},`+b+`]}`))
	}
	return lines
}

// ofSession returns requests about a session.
func ofSession(methods ...string) (lines []string) {
	for _, m := range methods {
		lines = append(lines, requestOf(m, `{"sessionId":"s","cwd":"/","mcpServers":[],"prompt":[{"type":"text","text":"x"}],"title":"t","modeId":"m","configId":"c","type":"id","value":"v"}`))
	}
	return lines
}

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
			requestOf("session/archive", `{"sessionId":"s"}`), requestOf("session/status", `{"sessionId":"s"}`), requestOf("session/options", `{"cwd":"/"}`), requestOf("session/set_title", `{"sessionId":"s","title":"t"}`),
			requestOf("logout", `{}`), requestOf("providers/list", `{}`), requestOf("auth/status", `{}`))...),
		2: append(requests("session/delete", `{"sessionId":"s"}`), requestOf("session/fork", `{"sessionId":"s","cwd":"/"}`), requestOf("session/archive", `{"sessionId":"s"}`),
			requestOf("session/new", `{"cwd":"/"}`), requestOf("session/resume", `{"sessionId":"s","cwd":"/"}`), requestOf("session/list", `{}`), requestOf("providers/list", `{}`)),
	}},
	{rule: "params that break the schema are refused", to: "agent", code: -32602,
		lines: both(requests("session/new", `{}`, `[]`, `{"cwd":5,"mcpServers":[]}`, `{"cwd":"/","mcpServers":5}`)...)},
	{rule: memberOnce, to: "agent", code: -32602, lines: both(requests("session/new", `{"cwd":"/","cwd":"/","mcpServers":[]}`)...)},
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
		`{"mode":"append","content":[{"type":"text","text":"x"},{"type":"image","data":"","mimeType":"image/png"}]}`)},
	{rule: memberOnce, to: "agent that applies system prompts", code: -32602, lines: opening(
		`{"mode":"append","mode":"append","content":`+sayBrief+`}`, `null,"systemPrompt":{"mode":"append","content":`+sayBrief+`}`)},

	{rule: "MCP servers have advertised transports", to: "agent", code: -32602, lines: map[int][]string{
		1: withServers(1, `{"type":"http","name":"m","url":"https://m.test","headers":[]}`, `{"type":"sse","name":"m","url":"https://m.test","headers":[]}`, `{"type":"future","name":"m"}`),
		2: withServers(2, `{"type":"http","name":"m","url":"https://m.test"}`, `{"type":"sse","name":"m","url":"https://m.test"}`, `{"type":"future","name":"m"}`)}},
	{rule: "MCP servers over stdio were advertised in version 2", to: "agent", code: -32602, lines: map[int][]string{2: withServers(2, `{"type":"stdio","name":"m","command":"/m"}`)}},
	{rule: "MCP servers have different names", to: "agent that takes everything", code: -32602, lines: map[int][]string{
		2: withServers(2, `{"type":"http","name":"m","url":"https://m.test"},{"type":"stdio","name":"m","command":"/m"}`)}},
	{rule: "blocks of a prompt were advertised", to: "agent", code: -32602, lines: map[int][]string{
		1: prompts(`{"type":"image","data":"","mimeType":"image/png"}`, `{"type":"audio","data":"","mimeType":"audio/wav"}`, `{"type":"resource","resource":{"uri":"file:///x","text":"x"}}`, `{"type":"resource","resource":{"uri":"file:///x","blob":""}}`),
		2: prompts(`{"type":"image","data":"","mimeType":"image/png"}`, `{"type":"audio","data":"","mimeType":"audio/wav"}`, `{"type":"resource","resource":{"uri":"file:///x","text":"x"}}`, `{"type":"resource","resource":{"uri":"file:///x","blob":""}}`)}},
	{rule: "additional directories need the capability", to: "agent", code: -32602, lines: map[int][]string{
		1: openings(1, `"mcpServers":[],"additionalDirectories":["/more"]`), 2: openings(2, `"additionalDirectories":["/more"]`)}},
	{rule: "a title has text", to: "agent", code: -32602, lines: both(requests("session/set_title", `{"sessionId":"s","title":""}`, `{"sessionId":"s","title":" \n\t\u00a0"}`)...)},
	{rule: "a session that does not exist is not found", to: "agent whose author refuses", code: -32002, lines: map[int][]string{
		1: ofSession("session/load", "session/resume", "session/prompt", "session/fork", "session/archive", "session/unarchive", "session/status", "session/set_title", "session/set_mode", "session/set_config_option"),
		2: ofSession("session/resume", "session/prompt", "session/fork", "session/archive", "session/unarchive", "session/status", "session/set_title", "session/set_config_option")},
		does: "Only an agent knows its sessions: its author returns rpcerr.SessionNotFound, whose code and data the client reads."},
	{rule: "a session that is not open, and what was not listed for it, is refused", to: "agent that checks ids", code: -32002, lines: map[int][]string{
		1: ofSession("session/prompt", "session/set_mode", "session/set_config_option"), 2: ofSession("session/prompt", "session/set_config_option")},
		does: "Options.CheckIDs refuses them before the author's code."},
	{rule: "a replay begins at a cursor that is supported", to: "agent", code: -32602, lines: map[int][]string{2: requests("session/resume",
		`{"sessionId":"s","cwd":"/","replayFrom":{"type":"cursor","cursor":"c"}}`, `{"sessionId":"s","cwd":"/","replayFrom":{"type":5}}`, `{"sessionId":"s","cwd":"/","replayFrom":{}}`)}},
	{rule: "a filter for archived sessions is supported", to: "agent", code: -32602, lines: both(requests("session/list", `{"archived":"bogus"}`, `{"archived":5}`)...)},
	{rule: "what cannot be cancelled is not", to: "small agent", code: -32602, lines: map[int][]string{2: {
		requestOf("tool_call/cancel", `{"sessionId":"s","toolCallId":"c"}`), requestOf("terminal/cancel", `{"sessionId":"s","terminalId":"t"}`)}}},
	{rule: "a repeated initialize requests version 2 or later", to: "agent", code: -32600,
		lines: map[int][]string{2: requests("initialize", `{"protocolVersion":1,"info":{"name":"n","version":"v"}}`)}},
	{rule: "an id that is in use is refused", test: "internal/rpc/TestCalls"},
	{rule: "one initialize is answered at a time", test: "internal/rpc/TestHandshake"},
	{rule: "a prompt that was cancelled before it was inserted fails", test: "draft2/agent/TestDialogues"},
	{rule: "an open session keeps its system prompt, or is loaded with another", test: "draft2/serve/adapter/TestDialogues"},
	{rule: "a system prompt that was not advertised, or that nobody could apply, is not sent", test: "client/TestSystemPromptsThatAreSent"},
	{rule: "a system prompt that was not advertised, or that nobody could apply, is not sent in either version", test: "draft2/connect/TestSystemPrompt"},
	{rule: "content, MCP servers and directories that were not advertised are not sent", test: "client/TestCallsThatTheAgentDidNotAdvertise"},
	{rule: "content that was not advertised is refused by an agent of version 1 behind an adapter", test: "draft2/serve/adapter/TestDialogues"},
	{rule: "a prompt of version 1 is not empty", test: "internal/system/kit/TestPromptsThatBeginNoTurn", should: true,
		does: "A receiver may refuse an empty prompt: package agent hands it on, and the kit refuses it."},
	{rule: "closing and deleting a session that is gone should succeed", test: "client/TestDialogues", should: true,
		does: "An agent answers what its author returns, and the error that the session is not found is none for package client."},
	{rule: "modes, options and values are those that were listed", test: "internal/system/kit/TestSettings"},
	{rule: "sessions exist, and belong to the user", test: "internal/system/kit/TestOwners"},
	{rule: "a cursor of a list is from that list", test: "internal/system/kit/TestList"},
	{rule: "a prompt calls skills that its session lists", test: "draft2/agent/TestUnknownSkills"},
	{rule: "a session is forked at a cursor that allows it", test: "internal/system/ends/TestCheckCursors"},
	{rule: "sessions need the user to sign in first, if the agent says so", test: "internal/system/kit/TestSigningIn"},
	{rule: "a way to sign in was offered, and is not a command", test: "internal/system/kit/TestSigningIn", should: true,
		does: "The rule is the client's: package agent hands the id on, because an agent may offer more ways later, and the kit refuses others with -32602."},
	{rule: "a provider that is required is not disabled", to: "agent whose author refuses", code: -32602, lines: both(requests("providers/disable", `{"providerId":"p"}`)...),
		does: "Only an agent knows which it requires: its author returns rpcerr.InvalidParams."},

	{rule: "methods of other ends do not exist for a client", to: "client", code: -32601,
		lines: both(requestOf("session/new", `{}`), requestOf("proxy/successor", `{}`))},
	{rule: "files and terminals that were not advertised do not exist", to: "client that advertises nothing", code: -32601, lines: map[int][]string{
		1: {requestOf("fs/read_text_file", `{"sessionId":"s","path":"/x"}`), requestOf("fs/write_text_file", `{"sessionId":"s","path":"/x","content":""}`),
			requestOf("terminal/create", `{"sessionId":"s","command":"ls"}`), requestOf("terminal/output", `{"sessionId":"s","terminalId":"t"}`),
			requestOf("terminal/wait_for_exit", `{"sessionId":"s","terminalId":"t"}`), requestOf("terminal/kill", `{"sessionId":"s","terminalId":"t"}`), requestOf("terminal/release", `{"sessionId":"s","terminalId":"t"}`)},
	}},
	{rule: "a mode of an elicitation that was not advertised is refused", to: "client that advertises nothing", code: -32602, lines: both(requests("elicitation/create",
		`{"requestId":1,"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`, `{"requestId":1,"message":"m","mode":"url","elicitationId":"e","url":"https://x.test"}`)...)},
	{rule: "pages are on the web, and their host is what it looks like", to: "client", code: -32602, lines: pages()},
	{rule: "a question has a scope", to: "client", code: -32602, lines: both(requests("elicitation/create", `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`)...)},
	{rule: "a question has one scope", to: "client", code: -32602, lines: map[int][]string{2: requests("elicitation/create",
		`{"sessionId":"s","requestId":1,"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}`)}},
	{rule: "a permission has options", to: "client", code: -32602, lines: map[int][]string{2: requests("session/request_permission", `{"sessionId":"s","title":"t","options":[]}`)}},
	{rule: "an MCP request has an id that no other one to the server has", test: "internal/system/hardening/order/TestMCPRequestsInUse"},
	{rule: "a question is about a session that is open", test: "client/host/TestQuestionsOfUnknownSessions"},
	{rule: "paths of files are absolute", test: "client/files/TestNames", should: true,
		does: "The rule is the sender's, and agents in use break it. Package client hands the path on, and client/files refuses it: only what serves files knows the system of the paths."},
	{rule: "folders of terminals are absolute", test: "client/terminals/TestFolder"},
	{rule: "a file exists", test: "client/files/TestOnTheWire"},
	{rule: "a terminal exists", test: "client/terminals/TestForeignTerminals"},

	{rule: "HTTP: 415, 400, 501 and 413 for bodies that are no message, 405 and 406 for other requests", test: "stream/streamhttp/TestRefusedRequests"},
	{rule: "HTTP: 400 without a connection, with a long id or another session, 404 for a connection that does not exist", test: "stream/streamhttp/TestRefusedRequests"},
	{rule: "HTTP: initialize is not repeated, and has an id", test: "stream/streamhttp/TestRefusedRequests"},
	{rule: "HTTP: 426 for an upgrade that nobody serves", test: "stream/streamhttp/TestRefusedRequests"},
	{rule: "HTTP: 500 if the agent does not answer initialize first", test: "stream/streamhttp/TestFailedInitialize"},
	{rule: "HTTP: 409 for a second receiver", test: "stream/streamhttp/TestQueuedUntilAttached"},
	{rule: "HTTP: 410 for a position that is lost", test: "stream/streamhttp/TestResume"},
	{rule: "HTTP: a connection that nobody reads ends, when what waits for all its sessions together is too much", test: "stream/streamhttp/TestStall"},
	{rule: "HTTP: bodies that wait are counted together", test: "stream/streamhttp/TestBodiesThatWait"},
	{rule: "HTTP: short bodies that wait are counted", test: "stream/streamhttp/TestManyWait"},
	{rule: "WebSocket: frames that wait are counted together, and short ones with more than their length", test: "stream/websocket/TestReadAheadIsBounded"},
	{rule: "HTTP: sessions without a receiver are limited", test: "stream/streamhttp/TestUnattendedSessions"},
	{rule: "HTTP: a client refuses a response to initialize that has no connection, another id or another status", test: "stream/streamhttp/TestInitializeFails"},
	{rule: "HTTP: a client fails the request, the session or the connection, as the status demands", test: "stream/streamhttp/TestPostFails"},
	{rule: "WebSocket: 1002 for another message before initialize", test: "stream/websocket/TestBeforeInitialize"},
	{rule: "WebSocket: initialize is not repeated", test: "stream/websocket/TestInitializeAgain"},
	{rule: "WebSocket: the close code is the reason of the end, and initialize is answered before", test: "stream/websocket/TestCloseCodes"},
	{rule: "WebSocket: messages are limited", test: "stream/websocket/TestTooLarge"},
	{rule: "WebSocket: binary frames are ignored", test: "stream/websocket/TestBinaryFramesAreIgnored"},
	{rule: "WebSocket: a client refuses a handshake that fails", test: "stream/websocket/TestRefusedHandshake"},
	{rule: "network: who may not connect is refused first, on each request and upgrade", test: "stream/remote/TestAuthorizeRunsFirst"},
	{rule: "network: who has no credentials any more loses the connection", test: "stream/remote/TestRevoked"},
	{rule: "network: a connection of another principal does not exist", test: "stream/remote/TestConnectionsOfOthers"},
	{rule: "network: 403 for foreign origins", test: "stream/remote/TestOrigins"},
	{rule: "network: 403 for foreign hosts", test: "stream/remote/TestHosts"},
	{rule: "network: tokens in URLs do not count", test: "stream/remote/TestTokensInURLsAreIgnored"},
	{rule: "network: connections are limited", test: "stream/remote/TestConnectionLimits"},
	{rule: "network: 413 for long bodies", test: "stream/remote/TestBodyLimit"},
}

// A rule that obliges a receiver to refuse is kept whether or not its author thought of it, in both
// versions and over each transport: the response has the code, no handler is called, and the
// connection goes on.
func TestRefusals(t *testing.T) {
	for _, over := range []profile{"stdio", overWebSocket, overHTTP, onLibrary, throughProxy, throughRouter, throughAdapter, withConnect} {
		for version := 1; version <= 2; version++ {
			for _, r := range refusals {
				if r.lines[version] == nil || !over.plays(version, r.to) {
					continue
				}
				t.Run(string(over)+"/"+string(rune('0'+version))+"/"+r.rule, func(t *testing.T) {
					if over == overHTTP && (r.noID || strings.HasPrefix(r.rule, "initialize comes") || strings.HasPrefix(r.rule, "a repeated initialize") || strings.HasSuffix(r.to, "not initialized") || strings.HasPrefix(r.to, "client")) {
						t.Skip("the transport answers with a status, or the agent's requests need its stream")
					}
					if over == overWebSocket && (r.to == "agent, not initialized" || strings.HasPrefix(r.to, "client")) {
						t.Skip("the transport ends the connection")
					}
					if over == onLibrary && r.rule == memberOnce {
						t.Skip("the library keeps the last of two members before a handler sees them")
					}
					if over == throughAdapter && baseline.MatchString(r.rule) {
						t.Skip("it serves version 1 too, and has what every agent of version 1 has")
					}
					e := newRefuser(t, over, version, r.to)
					for _, line := range r.lines[version] {
						if over == throughAdapter && r.code != -32601 && unadapted.MatchString(line) {
							continue
						}
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

// baseline matches rules about what every agent of version 1 has, and unadapted requests that an adapter does
// not have.
var (
	baseline  = regexp.MustCompile(`^(a method|a version) that (was|is) not|over stdio`)
	unadapted = regexp.MustCompile(`"(session/(fork|archive|unarchive|status|set_title)|providers/disable)"`)
)

// Each rule has lines, or a test that exists. What the protocol does not demand is described.
func TestRefusalsHaveAnOwner(t *testing.T) {
	for _, r := range refusals {
		assert.False(t, r.should && r.does == "", "%s: say what is done", r.rule)
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
