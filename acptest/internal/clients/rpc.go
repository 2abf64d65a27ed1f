package clients

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

const ping = "_acptest/ping"

var jsonrpc = []check.Check{
	{ID: "AKC-RPC-001", Title: "A request for an unknown method fails with -32601.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := open(t)
			for _, params := range []string{`,"params":{}`, ``} {
				from := s.Mark()
				s.Send(`{"jsonrpc":"2.0","id":"acptest-params","method":"acptest/unknown"` + params + `}`)
				m := s.Await(from, "a response to acptest/unknown", func(m *check.Message) bool { return m.IsResponse() && string(m.ID) == `"acptest-params"` })
				t.FailAtIf(m.Error == nil || m.Error.Code != -32601, m, "The request did not fail with -32601.")
			}
		}},
	{ID: "AKC-RPC-002", Title: "An unknown notification is ignored.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			s.Notify("acptest/unknown", map[string]any{})
			s.Notify("$/acptest", nil)
			s.Send(`{"jsonrpc":"2.0","method":"acptest/unknown"}`)
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-RPC-003", Title: "The id of a request is echoed, whatever form it has.", Tier: check.Must, Fact: "overview", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, id := range []string{`0`, `-7`, `9007199254740991`, `"0"`, `""`, `"é \"\\ 世"`} {
				s.probe(id).Echoed()
			}
		})},
	{ID: "AKC-RPC-004", Title: "An id of 64 bits is echoed without rounding.", Tier: check.Interop, Fact: "overview", In: check.Both, Rough: true,
		Run: func(t *check.T) { open(t).probe("9223372036854775807").Echoed() }},
	{ID: "AKC-RPC-015", Title: "The ids 7 and \"7\" are two, and each request gets its response.", Tier: check.Must, Fact: "overview", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			number, text := s.probe("7"), s.probe(`"7"`)
			number.Response()
			text.Response()
		})},
	{ID: "AKC-RPC-016", Title: "Each end has ids of its own: a request of the agent may have the id of one of the client that is in flight.", Tier: check.Must, Fact: "overview", In: check.Both, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			c := s.probe(string(s.prompt.ID))
			c.Response()
			s.Alive()
		})},
	{ID: "AKC-RPC-017", Title: "A message is one line, whatever characters are in it: the ends of lines of Unicode are none here.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, text := range []string{"a\u2028b\u2029c\u0085d", "\ufeff\u00a0\u200b\U0001f600"} {
				s.Send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + sessionID +
					`","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"` + text + `"}}}}`)
				from := s.Mark()
				s.Send(strings.Replace(t.ProbeText(`"line"`), `"jsonrpc"`, `"_acptest":"`+text+`","jsonrpc"`, 1))
				s.Await(from, "a response to a line with such characters", func(m *check.Message) bool { return string(m.ID) == `"line"` && m.IsResponse() })
			}
		})},
	{ID: "AKC-RPC-018", Title: "A request whose params cannot be read fails.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.Call(permission, s.with("options", "none"))
			t.FailAtIf(m.Error == nil && m.Text("outcome", "outcome") == "selected", m, "A question without options was answered with one of them.")
		})},
	{ID: "AKC-RPC-021", Title: "A request without what it needs, or with values of another type, fails, and does nothing.", Tier: check.Must, Fact: "overview", In: check.V1, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			for _, o := range []offer{
				{canRead, readFile, s.with()},
				{canRead, readFile, s.with("path", 5)},
				{canWrite, writeFile, s.with("path", path)},
				{canWrite, writeFile, s.with("path", path, "content", 5)},
				{canRun, "terminal/create", s.with("args", []string{"x"})},
				{canRun, "terminal/create", s.with("command", []string{"true"})},
				{canRun, "terminal/output", s.with()},
			} {
				if t.Has(o.capability) {
					s.refuses(o.method, o.params, o.method+" succeeded without a param that it needs, or with one of another type.")
				}
			}
			t.FailIf(on(path) != lines, "The file was changed by a write without a text.")
		})},
	{ID: "AKC-RPC-005", Title: "Each of many requests at once is answered exactly once.", Tier: check.Must, Fact: "overview", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			t.Requires(t.Probe.Method != "", "No request is known that the client answers.")
			from, n := s.Mark(), t.Amount(1000, 10)
			var calls []*check.Call
			for range n {
				calls = append(calls, s.Start(t.Probe.Method, t.Probe.Params))
			}
			for _, c := range calls {
				c.Response()
			}
			answered := map[string]bool{}
			for _, m := range s.Quiet(from) {
				t.FailAtIf(m.IsResponse() && answered[string(m.ID)], m, "A request was answered twice.")
				answered[string(m.ID)] = true
			}
		})},
	{ID: "AKC-RPC-006", Title: "A request is answered while a request of the client is in flight.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			t.Requires(t.Probe.Method == ping, "Without a session no request is known that the client answers.")
			until(t, "session/new").Call(ping, map[string]any{})
		}},
	{ID: "AKC-RPC-007", Title: "Members that the client does not know are ignored.", Tier: check.Must, Fact: "extensibility", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			params := s.question(offered)
			params["acptestMember"], params["_meta"] = []any{nil}, object("acptest", object("deep", 1))
			m := s.asked(permission, params)
			t.FailAtIf(m.Error != nil && m.Error.Code == -32602, m, "A request with a further member was refused.")
		})},
	{ID: "AKC-RPC-008", Title: "A response that belongs to no request is ignored.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			s.Send(`{"jsonrpc":"2.0","id":"acptest-unknown","result":{}}`)
			s.Send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
			first := s.Await(0, "initialize", is("initialize"))
			s.Answer(first, initialized(t.Version)) // again
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-RPC-009", Title: "What is no message does not end the connection.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, line := range []string{"Loading the model ...", "{nonsense", "\x1b[32mready\x1b[0m", `"text"`, "5", "null", "[]", "{}", `{"jsonrpc":"2.0"}`,
				`{"jsonrpc":"2.0","id":"acptest","method":5}`, `{"jsonrpc":"2.0","id":null,"method":"_acptest/x"}`, `{"jsonrpc":"2.0","id":7.5,"method":"_acptest/x"}`, `{"jsonrpc":"2.0","id":{},"method":"_acptest/x"}`} {
				s.Send(line)
			}
			s.survives()
		})},
	{ID: "AKC-RPC-022", Title: "A line that is not UTF-8 does not end the connection.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + sessionID +
				`","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"caf` + "\xe9" + `"}}}}`)
			s.Send(`{"jsonrpc":"2.0","method":"_acptest/` + "\xff\xfe" + `"}`)
			s.survives()
		})},
	{ID: "AKC-RPC-010", Title: "A banner before the response to initialize is skipped.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) {
			p := until(t, "initialize")
			p.Send("Welcome to the agent!")
			p.Handle("initialize", handlers(t.Version)["initialize"])
			p.Answer(p.Await(0, "initialize", is("initialize")), initialized(t.Version))
			p.Await(0, "session/new", is("session/new"))
		}},
	{ID: "AKC-RPC-011", Title: "Lines may end with CR LF, and be empty.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Send("\r\n\n" + t.ProbeText(`"crlf"`) + "\r\n")
			s.Await(0, "a response after CR LF", func(m *check.Message) bool { return string(m.ID) == `"crlf"` })
		})},
	{ID: "AKC-RPC-012", Title: "A batch does not end the connection.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Send("[" + t.ProbeText(`"batch"`) + "]")
			s.survives()
		})},
	{ID: "AKC-RPC-013", Title: "A large message is read.", Tier: check.Must, Fact: "transports", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			s.text(strings.Repeat("large ", t.Amount(8<<20, 66<<10)/6))
			s.survives()
		})},
	{ID: "AKC-RPC-019", Title: "A request that is cancelled with $/cancel_request is still answered.", Tier: check.Must, Fact: "cancellation", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			t.Works(func() { s.asked(permission, s.question(offered)) }) // without its user
			c := s.Start(permission, s.question(offered))
			s.Notify("$/cancel_request", object("requestId", json.RawMessage(c.ID)))
			c.Response()
			s.Quiet(s.Mark()) // a second response is judged elsewhere
		})},
	{ID: "AKC-RPC-020", Title: "A cancel of a request that does not exist is ignored.", Tier: check.Must, Fact: "cancellation", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			s.Notify("$/cancel_request", object("requestId", 4711))
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-RPC-014", Title: "A prompt that fails is borne.", Tier: check.Must, Fact: "overview", In: check.V1, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.Answer(s.prompt, &check.Error{Code: -1, Message: "", Data: []byte(`["acptest",null]`)})
			s.over = true
			s.survives()
		})},
}

// probe sends a request that the client answers, with an id.
func (s *session) probe(id string) *check.Call {
	s.t.Requires(s.t.Probe.Method != "", "No request is known that the client answers.")
	return s.StartAs(id, s.t.Probe.Method, s.t.Probe.Params)
}

// passiveRules are decided by the rules that are passive, on the traffic of all checks.
var passiveRules = []check.Check{
	{ID: "AKC-WS-001", Title: "Messages are text frames.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.WebSocket, Passive: check.FramesRule},
	{ID: "AKC-WIRE-001", Title: "The client sends only JSON-RPC messages.", Tier: check.Must, Fact: "transports", In: check.Both, Passive: "message"},
	{ID: "AKC-WIRE-002", Title: "Every message is valid by the schema of its method.", Tier: check.Must, Fact: "schema", In: check.Both, Passive: "schema"},
	{ID: "AKC-WIRE-003", Title: "A response has the id of a request in flight.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "unknown-id"},
	{ID: "AKC-WIRE-004", Title: "No request is answered twice.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "answered-twice"},
	{ID: "AKC-WIRE-005", Title: "The id of a request is not used again while it is in flight.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "id-in-use"},
	{ID: "AKC-WIRE-006", Title: "Names of extension methods begin with an underscore.", Tier: check.Must, Fact: "extensibility", In: check.Both, Passive: "method"},
	{ID: "AKC-WIRE-007", Title: "The client uses only what the agent has advertised.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.Both, Passive: "capability"},
	{ID: "AKC-WIRE-009", Title: "Requests are sent as requests, and notifications as notifications.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "kind"},
	{ID: "AKC-WIRE-010", Title: "The client does not send what only agents send.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "direction"},
	{ID: "AKC-WIRE-011", Title: "The ids of requests are strings or integers.", Tier: check.Must, Fact: "overview", In: check.V2, Passive: "id"},
	{ID: "AKC-WIRE-012", Title: "All paths are absolute.", Tier: check.Must, Fact: "overview#argument-requirements", In: check.Both, Passive: "relative-path"},
	{ID: "AKC-WIRE-013", Title: "Members that a reader must forgive are right, too: what is wrong is lost.", Tier: check.Should, Fact: "schema", In: check.Both, Passive: "schema-forgiven"},
	{ID: "AKC-WIRE-014", Title: "Words that the protocol does not have begin with an underscore.", Tier: check.Interop, Fact: "extensibility", In: check.V2, Passive: "unknown-word"},
	{ID: "AKC-WIRE-015", Title: "A system prompt has text, and nothing else.", Tier: check.Must, Fact: "session-setup", In: check.Both, Passive: "system-prompt"},
	{ID: "AKC-WIRE-016", Title: "A skill is the first block of a prompt, unless the agent takes it anywhere.", Tier: check.Must, Fact: "slash-commands", In: check.V2, Passive: "skill"},
	{ID: "AKC-WIRE-017", Title: "A session is forked at a cursor that the agent has told for it.", Tier: check.Must, Fact: "session-setup", In: check.Both, Passive: "cursor"},
	{ID: "AKC-WIRE-018", Title: "initialize is not repeated after other requests.", Tier: check.Must, Fact: "initialization", In: check.V2, Passive: "initialize-again"},
	{ID: "AKC-WIRE-019", Title: "Prompts, cancels and settings name a session that the client has opened.", Tier: check.Must, Fact: "session-setup", In: check.Both, Passive: "unknown-session"},
	{ID: "AKC-WIRE-020", Title: "All messages are UTF-8.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes, Passive: "utf8"},
	{ID: "AKC-WIRE-008", Title: "Permission that is pending when the turn is cancelled gets the outcome cancelled.", Tier: check.Must, Fact: "tool-calls#requesting-permission", In: check.V1, Passive: "cancel-answer"},
}

var order = []check.Check{
	{ID: "AKC-ORDER-001", Title: "A flood of updates is borne.", Tier: check.Must, Fact: "prompt-turn", In: check.Both,
		Run: func(t *check.T) {
			t.Wait *= 5 // a flood is much work
			s := open(t)
			for i := range t.Amount(10_000, 60) {
				s.text(fmt.Sprintf("%d ", i))
			}
			s.survives()
		}},
	{ID: "AKC-ORDER-002", Title: "Updates and content of unknown kinds are ignored.", Tier: check.Must, Fact: "extensibility", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			s.update("_acptest", "value", 1)
			if t.Version == 2 {
				s.update("state_update", "state", "_acptest")
				s.update("state_update", "state", "acptest_future")
				s.update("plan_update", "plan", object("type", "_acptest", "planId", "acptest-plan"))
				s.update("available_commands_update", "availableCommands", []any{object("type", "_acptest", "name", "x", "description", "X")})
			}
			s.update("acptest_future", "value", object("deep", nil))
			s.update("config_option_update", "configOptions", []any{object("id", "o", "configId", "o", "name", "O", "type", "_acptest", "currentValue", object("deep", 1))})
			if t.Version == 1 {
				s.update("plan", "entries", []any{object("content", "Look", "priority", "_acptest", "status", "_acptest")})
				s.update("current_mode_update", "currentModeId", "acptest-no-mode")
			} else {
				s.update("plan_update", "plan", object("type", "items", "planId", "acptest-plan", "entries", []any{object("content", "Look", "priority", "_acptest", "status", "_acptest")}))
				s.update("notice", "severity", "_acptest", "title", "News")
				s.update("tool_call_content_chunk", "toolCallId", "acptest-call", "content", object("type", "_acptest"))
			}
			for member, value := range map[string]string{"kind": "_acptest", "status": "_acptest"} {
				s.update("tool_call_update", "toolCallId", "acptest-"+member, "title", "Look", member, value)
			}
			s.update("agent_message_chunk", "messageId", "m", "content", object("type", "acptest", "data", 1))
			s.update("agent_message_chunk", "messageId", "m", "content", "not a block")
			s.update("tool_call_update", "toolCallId", "acptest-call", "status", "acptest", "kind", 7, "content", []any{object("type", "acptest")})
			s.Notify("session/update", s.with())
			s.Send(`{"jsonrpc":"2.0","method":"session/update"}`)
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-ORDER-003", Title: "Updates of a session that the client does not know are ignored.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			other := &session{Peer: s.Peer, t: t, id: "acptest-unknown"}
			other.text("Who reads this?")
			if t.Version == 2 {
				other.update("state_update", "state", "idle")
			}
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-ORDER-004", Title: "Updates that precede the response to session/new are borne.", Tier: check.Interop, Fact: "prompt-turn", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := &session{Peer: until(t, "session/new"), t: t, id: sessionID}
			t.Works(func() {
				s.update("available_commands_update", "availableCommands", []any{object("type", "command", "name", "acptest", "description", "Check")})
				s.text("Before the session.")
				s.Answer(s.Await(0, "session/new", is("session/new")), object("sessionId", sessionID))
			})
			s.survives()
		}},
	{ID: "AKC-ORDER-005", Title: "Updates that follow the end of a turn are borne.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Rough: true, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.endTurn()
			s.text("One more thing.")
			s.update("session_info_update", "title", "Late")
			s.update("usage_update", "used", 1, "size", 2)
			s.survives()
		})},
	{ID: "AKC-ORDER-007", Title: "Each kind of update is borne and not responded to, with what it must have alone, and with all that it may have.", Tier: check.Must, Fact: "prompt-turn", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			for _, one := range everyUpdate(t.Version, t.Opts.Cwd) {
				s.update(one.kind, one.members...)
			}
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-ORDER-006", Title: "A tool call may begin with its update, and members may be null.", Tier: check.Must, Fact: "prompt-turn", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			s.update("tool_call_update", "toolCallId", "acptest-late", "title", nil, "kind", nil, "status", "completed", "content", nil, "_meta", nil)
			s.survives()
		})},
}
