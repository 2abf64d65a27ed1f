package clients

import (
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

const ping = "_acptest/ping"

var jsonrpc = []check.Check{
	{ID: "AKC-RPC-001", Title: "A request for an unknown method fails with -32601.", Tier: check.Must, Fact: "1.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			m := open(t).Call("acptest/unknown", map[string]any{})
			t.FailAtIf(m.Error == nil || m.Error.Code != -32601, m, "The request did not fail with -32601.")
		}},
	{ID: "AKC-RPC-002", Title: "An unknown notification is ignored.", Tier: check.Must, Fact: "1.1", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			s.Notify("acptest/unknown", map[string]any{})
			s.Notify("$/acptest", nil)
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-RPC-003", Title: "The id of a request is echoed, whatever form it has.", Tier: check.Must, Fact: "2.2", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, id := range []string{`0`, `-7`, `9007199254740991`, `"0"`, `""`, `"é \"\\ 世"`} {
				s.StartAs(id, ping, map[string]any{}).Echoed()
			}
		})},
	{ID: "AKC-RPC-004", Title: "An id of 64 bits is echoed without rounding.", Tier: check.Interop, Fact: "2.2", In: check.Both, Rough: true,
		Run: func(t *check.T) { open(t).StartAs("9223372036854775807", ping, map[string]any{}).Echoed() }},
	{ID: "AKC-RPC-005", Title: "Each of many requests at once is answered exactly once.", Tier: check.Must, Fact: "4.1", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			from, n := s.Mark(), t.Amount(1000, 10)
			var calls []*check.Call
			for range n {
				calls = append(calls, s.Start(ping, map[string]any{}))
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
	{ID: "AKC-RPC-006", Title: "A request is answered while a request of the client is in flight.", Tier: check.Must, Fact: "10.1", In: check.Both, Rough: true,
		Run: func(t *check.T) { until(t, "session/new").Call(ping, map[string]any{}) }},
	{ID: "AKC-RPC-007", Title: "Members that the client does not know are ignored.", Tier: check.Must, Fact: "2.1", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			params := s.question(offered)
			params["acptestMember"], params["_meta"] = []any{nil}, object("acptest", object("deep", 1))
			m := s.asked(permission, params)
			t.FailAtIf(m.Error != nil && m.Error.Code == -32602, m, "A request with a further member was refused.")
		})},
	{ID: "AKC-RPC-008", Title: "A response that belongs to no request is ignored.", Tier: check.Must, Fact: "3.3", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			from := s.Mark()
			s.Send(`{"jsonrpc":"2.0","id":"acptest-unknown","result":{}}`)
			s.Send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
			first := s.Await(0, "initialize", is("initialize"))
			s.Answer(first, initialized(t.Version)) // again
			s.Unanswered(from)
			s.survives()
		})},
	{ID: "AKC-RPC-009", Title: "What is no message does not end the connection.", Tier: check.Interop, Fact: "6.1", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, line := range []string{"Loading the model ...", "{nonsense", "\x1b[32mready\x1b[0m", `"text"`, "[]", `{"jsonrpc":"2.0"}`} {
				s.Send(line)
			}
			s.survives()
		})},
	{ID: "AKC-RPC-010", Title: "A banner before the response to initialize is skipped.", Tier: check.Interop, Fact: "9.4", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) {
			p := until(t, "initialize")
			p.Send("Welcome to the agent!")
			p.Handle("initialize", handlers(t.Version)["initialize"])
			p.Answer(p.Await(0, "initialize", is("initialize")), initialized(t.Version))
			p.Await(0, "session/new", is("session/new"))
		}},
	{ID: "AKC-RPC-011", Title: "Lines may end with CR LF, and be empty.", Tier: check.Must, Fact: "6.1", In: check.Both, Over: check.Bytes,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Send("\r\n\n{\"jsonrpc\":\"2.0\",\"id\":\"crlf\",\"method\":\"" + ping + "\"}\r\n")
			s.Await(0, "a response after CR LF", func(m *check.Message) bool { return string(m.ID) == `"crlf"` })
		})},
	{ID: "AKC-RPC-012", Title: "A batch does not end the connection.", Tier: check.Should, Fact: "6.1", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.Send(fmt.Sprintf(`[{"jsonrpc":"2.0","id":"batch","method":%q}]`, ping))
			s.survives()
		})},
	{ID: "AKC-RPC-013", Title: "A large message is read.", Tier: check.Must, Fact: "10.2", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			s.text(strings.Repeat("large ", t.Amount(8<<20, 66<<10)/6))
			s.survives()
		})},
	{ID: "AKC-RPC-014", Title: "A prompt that fails is borne.", Tier: check.Must, Fact: "3.1", In: check.V1, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.Answer(s.prompt, &check.Error{Code: -1, Message: "", Data: []byte(`["acptest",null]`)})
			s.over = true
			s.survives()
		})},
}

// passiveRules are decided by the rules that are passive, on the traffic of all checks.
var passiveRules = []check.Check{
	{ID: "AKC-WIRE-001", Title: "The client sends only JSON-RPC messages.", Tier: check.Must, Fact: "6.1", In: check.Both, Passive: "message"},
	{ID: "AKC-WIRE-002", Title: "Every message is valid by the schema of its method.", Tier: check.Must, Fact: "2", In: check.Both, Passive: "schema"},
	{ID: "AKC-WIRE-003", Title: "A response has the id of a request in flight.", Tier: check.Must, Fact: "3.3", In: check.Both, Passive: "unknown-id"},
	{ID: "AKC-WIRE-004", Title: "No request is answered twice.", Tier: check.Must, Fact: "4.1", In: check.Both, Passive: "answered-twice"},
	{ID: "AKC-WIRE-005", Title: "The id of a request is not used again while it is in flight.", Tier: check.Must, Fact: "2.2", In: check.Both, Passive: "id-in-use"},
	{ID: "AKC-WIRE-006", Title: "Names of extension methods begin with an underscore.", Tier: check.Must, Fact: "2.2", In: check.Both, Passive: "method"},
	{ID: "AKC-WIRE-007", Title: "The client uses only what the agent has advertised.", Tier: check.Must, Fact: "1.1", In: check.Both, Passive: "capability"},
	{ID: "AKC-WIRE-008", Title: "Permission that is pending when the turn is cancelled gets the outcome cancelled.", Tier: check.Must, Fact: "4.2", In: check.V1, Passive: "cancel-answer"},
}

var order = []check.Check{
	{ID: "AKC-ORDER-001", Title: "A flood of updates is borne.", Tier: check.Must, Fact: "10.2", In: check.Both,
		Run: func(t *check.T) {
			t.Wait *= 5 // a flood is much work
			s := open(t)
			for i := range t.Amount(10_000, 60) {
				s.text(fmt.Sprintf("%d ", i))
			}
			s.survives()
		}},
	{ID: "AKC-ORDER-002", Title: "Updates and content of unknown kinds are ignored.", Tier: check.Must, Fact: "2.2", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			s.update("_acptest", "value", 1)
			s.update("acptest_future", "value", object("deep", nil))
			s.update("agent_message_chunk", "messageId", "m", "content", object("type", "acptest", "data", 1))
			s.update("agent_message_chunk", "messageId", "m", "content", "not a block")
			s.update("tool_call_update", "toolCallId", "acptest-call", "status", "acptest", "kind", 7, "content", []any{object("type", "acptest")})
			s.Notify("session/update", s.with())
			s.survives()
		})},
	{ID: "AKC-ORDER-003", Title: "Updates of a session that the client does not know are ignored.", Tier: check.Must, Fact: "8.8", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			other := &session{Peer: s.Peer, t: t, id: "acptest-unknown"}
			other.text("Who reads this?")
			other.update("state_update", "state", "idle")
			s.survives()
		})},
	{ID: "AKC-ORDER-004", Title: "Updates that precede the response to session/new are borne.", Tier: check.Interop, Fact: "10.1", In: check.Both, Rough: true,
		Run: func(t *check.T) {
			s := &session{Peer: until(t, "session/new"), t: t, id: sessionID}
			t.Works(func() {
				s.update("available_commands_update", "availableCommands", []any{object("type", "command", "name", "acptest", "description", "Check")})
				s.text("Before the session.")
				s.Answer(s.Await(0, "session/new", is("session/new")), object("sessionId", sessionID))
			})
			s.survives()
		}},
	{ID: "AKC-ORDER-005", Title: "Updates that follow the end of a turn are borne.", Tier: check.Must, Fact: "1.5.5", In: check.Both, Rough: true, Prompts: []string{"text"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.endTurn()
			s.text("One more thing.")
			s.update("session_info_update", "title", "Late")
			s.update("usage_update", "used", 1, "size", 2)
			s.survives()
		})},
	{ID: "AKC-ORDER-006", Title: "A tool call may begin with its update, and members may be null.", Tier: check.Must, Fact: "8.5", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			s.update("tool_call_update", "toolCallId", "acptest-late", "title", nil, "kind", nil, "status", "completed", "content", nil, "_meta", nil)
			s.survives()
		})},
}
