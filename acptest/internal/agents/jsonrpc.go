package agents

import (
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// ping is a message that a server takes, whatever the agent makes of it.
const ping = `{"jsonrpc":"2.0","id":501,"method":"_acptest/ping","params":{}}`

var jsonrpc = []check.Check{
	{ID: "ACP-JSONRPC-002", Title: "A response has jsonrpc, and exactly one of result and error.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Call(t.Probe.Method, t.Probe.Params)
			p.Call("session/new", newParams(t))
			for _, m := range p.Since(0) {
				result, failed := check.At(m.Raw, "result") != nil, check.At(m.Raw, "error") != nil
				if m.Method == "" && m.ID == nil {
					continue // no message
				}
				if string(check.At(m.Raw, "jsonrpc")) != `"2.0"` || m.Method == "" && result == failed {
					t.FailAt(m, "The message does not have jsonrpc, or a response not exactly one of result and error.")
				}
			}
		})},
	{ID: "ACP-JSONRPC-003", Title: "A notification is not responded to.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			from := p.Mark()
			p.Notify("acptest/unknown", map[string]any{})
			p.Notify("_acptest/unknown", map[string]any{})
			p.Notify("$/acptest", map[string]any{})
			p.Notify("$/cancel_request", map[string]any{})
			p.Notify("session/cancel", map[string]any{"sessionId": noSession})
			p.Unanswered(from)
		})},
	{ID: "ACP-JSONRPC-004", Title: "A request for an unknown method fails with -32601.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true,
		Run: func(t *check.T) { fails(t, begin(t).Call("acptest/unknown", map[string]any{}), -32601) }},
	{ID: "AK-RPC-011", Title: "A request whose params cannot be read fails with -32602.", Tier: check.Should, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			fails(t, signedIn(t, p.Call("session/new", []any{1})), -32602, -32600)
			if t.Target.Kind != check.HTTP { // there such a request fails by its status
				fails(t, p.Call("session/prompt", map[string]any{"sessionId": 5}), -32602)
			}
		})},
	{ID: "ACP-EXT-001", Title: "A request of an extension that the agent does not know is answered.", Tier: check.Must, Fact: "extensibility", In: check.Both,
		Run: func(t *check.T) { begin(t).Call("_acptest/unknown", map[string]any{}) }},
	{ID: "AK-EXT-001", Title: "A request of an extension that the agent does not know fails with -32601.", Tier: check.Should, Fact: "extensibility", In: check.Both,
		Run: func(t *check.T) { fails(t, begin(t).Call("_acptest/other", map[string]any{}), -32601) }},
	{ID: "AK-PARSE-001", Title: "A line that is not JSON does not end the connection.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Send("{nonsense")
			p.Alive()
		})},
	{ID: "AK-PARSE-002", Title: "A line that is not JSON is answered with the error -32700 and the id null.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			from := p.Mark()
			p.Send("[nonsense")
			fails(t, p.Await(from, "a response with the id null", func(m *check.Message) bool { return m.Method == "" && string(check.At(m.Raw, "id")) == "null" }), -32700)
		})},
	{ID: "AK-RPC-001", Title: "JSON that is no message does not end the connection.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			for _, line := range []string{`5`, `"x"`, `null`, `{}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":77,"method":5}`} {
				p.Send(line)
			}
			p.Alive()
		})},
	{ID: "AK-RPC-002", Title: "A response to no request is ignored.", Tier: check.Must, Fact: "transports", In: check.Both, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			from := p.Mark()
			p.Send(`{"jsonrpc":"2.0","id":4711,"result":{}}`)
			p.Send(`{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"no"}}`)
			p.Unanswered(from)
			p.Alive()
		})},
	{ID: "AK-RPC-003", Title: "A batch does not end the connection.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			p.Send("[" + t.ProbeText("501") + "," + t.ProbeText("502") + "]")
			p.Alive()
		})},
	{ID: "AK-RPC-004", Title: "A batch is answered, at least with an error, so that its sender does not wait.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			from := p.Mark()
			p.Send("[" + t.ProbeText("501") + "]")
			p.Await(from, "an answer", func(m *check.Message) bool { return m.Method == "" })
		})},
	{ID: "AK-RPC-016", Title: "The requests of a batch are not answered as messages of their own.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			from := p.Mark()
			p.Send("[" + t.ProbeText("501") + "," + t.ProbeText("502") + "]")
			for _, m := range p.Quiet(from) {
				t.FailAtIf(m.IsResponse() && (string(m.ID) == "501" || string(m.ID) == "502"), m, "A request of the batch was answered by itself: the protocol has no batches.")
			}
		})},
	{ID: "AK-PARSE-003", Title: "A line that is not UTF-8 does not end the connection.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			for _, line := range []string{"{\"jsonrpc\":\"2.0\",\"method\":\"_acptest/\xff\xfe\"}", "{\"jsonrpc\":\"2.0\",\"method\":\"_acptest/x\",\"params\":{\"text\":\"caf\xe9\"}}", "\xff"} {
				p.Send(line)
			}
			p.Alive()
		})},
	{ID: "AK-RPC-005", Title: "A line may end with a carriage return and a line feed.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.Bytes,
		Run: func(t *check.T) { answers(t, begin(t), t.ProbeText("501")+"\r\n", "501") }},
	{ID: "AK-RPC-006", Title: "Blank lines are skipped.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) { answers(t, begin(t), "\n  \n"+t.ProbeText("501")+"\n", "501") }},
	{ID: "AK-RPC-007", Title: "Several lines may arrive at once.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes, Rough: true,
		Run: func(t *check.T) {
			answers(t, begin(t), t.ProbeText("501")+"\n"+t.ProbeText("502")+"\n", "501", "502")
		}},
	{ID: "AK-RPC-008", Title: "A cancel of a request that does not exist, or was answered, is ignored.", Tier: check.Must, Fact: "cancellation", In: check.Both,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			done := p.Start(t.Probe.Method, t.Probe.Params)
			done.Response()
			from := p.Mark()
			p.Notify("$/cancel_request", map[string]any{"requestId": 4711})
			p.Notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(done.ID)})
			p.Unanswered(from)
			p.Alive()
		})},
	{ID: "AK-RPC-009", Title: "A request that is cancelled with $/cancel_request is still answered.", Tier: check.Must, Fact: "cancellation", In: check.Both, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.Notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(s.call.ID)})
			s.Quiet(s.Mark()) // it may be ignored
			s.cancel()
			s.AwaitTurn(s.call.From(), "a response to session/prompt", s.call.IsResponse, true)
			s.Quiet(s.Mark()) // a second response is judged elsewhere
		})},
	{ID: "AK-RPC-012", Title: "A cancel of a request is one of its id as it is: that of \"7\" is not that of 7.", Tier: check.Must, Fact: "cancellation", In: check.V1, Prompts: []string{"slow"},
		Run: check.With(open, func(t *check.T, s *session) {
			s.call = s.StartAs("7007", "session/prompt", s.with("prompt", []any{textBlock(t.Prompt("slow"))}))
			t.Works(s.begins)
			s.Notify("$/cancel_request", map[string]any{"requestId": "7007"})
			for _, m := range s.Quiet(s.call.From()) {
				t.FailAtIf(s.call.IsResponse(&m), m, "The request with the id 7007 was cancelled by the id \"7007\".")
			}
			s.cancel()
			t.Works(func() { s.ends(s.call) })
		})},
	{ID: "AK-RPC-013", Title: "A message is one line, whatever characters are in it: the ends of lines of Unicode are none here.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Bytes,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			for i, id := range []string{"801", "802"} {
				text := []string{"a\u2028b\u2029c\u0085d", "\ufeff\u00a0\u200b\U0001f600"}[i]
				probe := strings.Replace(t.ProbeText(id), `"params":{`, `"params":{"_meta":{"acptest":"`+text+`"},`, 1)
				answers(t, p, strings.Replace(probe, `,}`, `}`, 1), id)
			}
		})},
	{ID: "AK-RPC-014", Title: "A session/cancel that is sent as a request is answered.", Tier: check.Must, Fact: "overview", In: check.Both, Rough: true, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			c := s.Start("session/cancel", s.with())
			s.Quiet(s.Mark())
			s.cancel() // some agents answer one request after the other
			t.Works(func() { s.ends(s.call) })
			c.Response()
		})},
	{ID: "AK-RPC-015", Title: "A method whose capability is not advertised fails.", Tier: check.Should, Fact: "initialization#agent-capabilities", In: check.V1, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, one := range []struct{ needs, method string }{
				{"loadSession", "session/load"}, {"sessionCapabilities.resume", "session/resume"}, {"sessionCapabilities.list", "session/list"},
				{"sessionCapabilities.close", "session/close"}, {"sessionCapabilities.delete", "session/delete"}, {"sessionCapabilities.fork", "session/fork"}, {"sessionCapabilities.options", "session/options"},
				{"sessionCapabilities.status", "session/status"}, {"providers", "providers/list"}, {"auth.status", "auth/status"}, {"auth.logout", "logout"},
			} {
				if !t.Has(one.needs) {
					m := s.Call(one.method, s.with("cwd", t.Opts.Cwd, "mcpServers", []any{}))
					t.FailAtIf(m.Error == nil, m, "%s succeeds, and %s is not advertised.", one.method, one.needs)
				}
			}
		})},
}

// answers fails the check if the requests in a text are not answered.
func answers(t *check.T, p *check.Peer, text string, ids ...string) {
	from := p.Mark()
	p.Send(text)
	for _, id := range ids {
		p.Await(from, "the response with the id "+id, func(m *check.Message) bool { return m.Method == "" && string(m.ID) == id })
	}
}

// ids are the checks of unusual ids.
var ids = []check.Check{
	echoes("AK-ID-001", "The id 0 is echoed.", `0`, check.Must),
	echoes("AK-ID-002", "An id that is a string is echoed as one.", `"0x1-ä"`, check.Must),
	echoes("AK-ID-003", "An id beyond the integers of JavaScript is echoed exactly.", `9223372036854775807`, check.Interop),
	echoes("AK-ID-009", "A negative id is echoed.", `-7`, check.Must),
	echoes("AK-ID-010", "The largest integer of JavaScript is echoed as an id.", `9007199254740991`, check.Must),
	echoes("AK-ID-013", "The empty text is echoed as an id.", `""`, check.Must),
	{ID: "AK-ID-011", Title: "The ids 7 and \"7\" are two, and each request gets its response.", Tier: check.Must, Fact: "overview", In: check.Both,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			number, text := p.StartAs("77", t.Probe.Method, t.Probe.Params), p.StartAs(`"77"`, t.Probe.Method, t.Probe.Params)
			number.Response()
			text.Response()
		})},
	{ID: "AK-ID-012", Title: "Each end has ids of its own: a request of the client may have the id of one of the agent that is in flight.", Tier: check.Must, Fact: "overview", In: check.Both, Prompts: []string{"ask"},
		Run: check.With(asking, func(t *check.T, s *session) {
			c := s.StartAs(string(s.question.ID), t.Probe.Method, t.Probe.Params)
			s.Quiet(s.Mark())
			s.Answer(s.question, allow(s.question)) // some agents answer one request after the other
			t.Works(func() { s.ends(s.call) })
			c.Response()
		})},
	{ID: "AK-ID-004", Title: "A request with the id null is answered, in version 2 with an error as one with a fraction is, and does not end the connection.", Tier: check.Should, Fact: "overview", In: check.Both, Rough: true,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			for _, id := range []string{"null", "7.5"} {
				from := p.Mark()
				p.Send(t.ProbeText(id))
				if t.Version == 2 || id == "null" {
					m := p.Await(from, "a response with the id null", func(m *check.Message) bool { return m.Method == "" && string(check.At(m.Raw, "id")) == "null" })
					if t.Version == 2 {
						fails(t, m, -32600)
					}
				}
			}
			p.Alive()
		})},
	{ID: "AK-ID-005", Title: "An id that belongs to a request in flight does not take away the response to it.", Tier: check.Should, Fact: "overview", In: check.V1, Rough: true, Prompts: []string{"slow"},
		Run: check.With(working, func(t *check.T, s *session) {
			s.StartAs(s.call.ID, t.Probe.Method, t.Probe.Params)
			s.Quiet(s.Mark())
			s.cancel()
			s.Await(s.call.From(), "the response to session/prompt", func(m *check.Message) bool {
				return string(m.ID) == s.call.ID && m.Method == "" && m.Text("stopReason") != ""
			})
		})},
	{ID: "AK-ID-006", Title: "An id may be used again when its request was answered.", Tier: check.Should, Fact: "overview", In: check.Both,
		Run: check.With(begin, func(t *check.T, p *check.Peer) {
			for range 2 {
				p.StartAs("700", t.Probe.Method, t.Probe.Params).Response()
			}
		})},
}

func echoes(id, title, value string, tier check.Tier) check.Check {
	return check.Check{ID: id, Title: title, Tier: tier, Fact: "overview", In: check.Both, Rough: tier != check.Must,
		Run: func(t *check.T) {
			p := begin(t)
			t.Requires(t.Probe.Method != "", "No request is known that the agent answers.")
			p.StartAs(value, t.Probe.Method, t.Probe.Params).Echoed()
		}}
}

// passiveRules are decided by the rules that are passive, on the traffic of all checks.
var passiveRules = []check.Check{
	{ID: "ACP-JSONRPC-001", Title: "A response has the id of a request in flight.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "unknown-id"},
	{ID: "AK-RPC-010", Title: "A request is answered once.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "answered-twice"},
	{ID: "AK-ID-007", Title: "The ids of the agent's requests belong to one request until it is answered.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "id-in-use"},
	{ID: "AK-ID-008", Title: "The ids of the agent's requests are strings or integers.", Tier: check.Must, Fact: "overview", In: check.V2, Passive: "id"},
	{ID: "ACP-SCHEMA-002", Title: "Members that a reader must forgive are right, too: what is wrong is lost.", Tier: check.Should, Fact: "schema", In: check.Both, Passive: "schema-forgiven"},
	{ID: "ACP-ENUM-202", Title: "Words that the protocol does not have begin with an underscore.", Tier: check.Interop, Fact: "extensibility", In: check.Both, Passive: "unknown-word"},
	{ID: "AK-PATH-001", Title: "All paths are absolute.", Tier: check.Must, Fact: "overview#argument-requirements", In: check.Both, Passive: "relative-path"},
	{ID: "AK-TOOL-002", Title: "A tool call begins with tool_call, or with a permission request.", Tier: check.Should, Fact: "tool-calls", In: check.V1, Passive: "tool-call-first"},
	{ID: "AK-REPLAY-001", Title: "The end of a replay, and of that of each session that it announces, is told once, behind it and before the response, and at no other time.", Tier: check.Must, Fact: "session-setup", In: check.V2, Passive: "replay-complete"},
	{ID: "AK-CURSOR-001", Title: "The first update of a cursor has its anchor, which never changes.", Tier: check.Must, Fact: "session-setup", In: check.Both, Passive: "cursor"},
	{ID: "AK-SUGGEST-001", Title: "What the agent suggests is a prompt that it takes, and that is not blank.", Tier: check.Must, Fact: "prompt-turn", In: check.Both, Passive: "suggestion"},
	{ID: "AK-SKILL-001", Title: "An agent that lists skills takes them in prompts.", Tier: check.Must, Fact: "slash-commands", In: check.V2, Passive: "skill"},
	{ID: "AK-AUTH-003", Title: "An agent that advertises auth.status tells the state of the sign-in unasked when it has changed, and no other agent does.", Tier: check.Should, Fact: "authentication", In: check.Both, Passive: "auth-status"},
	{ID: "ACP-SCHEMA-001", Title: "Every message is valid by the schema of its method.", Tier: check.Must, Fact: "schema", In: check.Both, Passive: "schema"},
	{ID: "AK-METHOD-001", Title: "The agent sends no methods that are neither of the protocol nor of an extension.", Tier: check.Must, Fact: "extensibility", In: check.Both, Passive: "method"},
	{ID: "AK-METHOD-002", Title: "The agent does not send what only clients send.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "direction"},
	{ID: "AK-METHOD-003", Title: "Requests are sent as requests, and notifications as notifications.", Tier: check.Must, Fact: "overview", In: check.Both, Passive: "kind"},
	{ID: "AK-CAPABILITY-001", Title: "The agent uses only what the client has advertised.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.Both, Passive: "capability"},
	{ID: "ACP-PROMPT-002", Title: "Messages name only sessions that the client knows.", Tier: check.Must, Fact: "session-setup", In: check.Both, Passive: "unknown-session"},
	{ID: "AK-CLOSE-001", Title: "After the response to session/close nothing is sent for the session.", Tier: check.Must, Fact: "session-setup", In: check.V2, Passive: "after-close"},
	{ID: "AK-RESUME-001", Title: "A resumed session reports its state before the response.", Tier: check.Must, Fact: "session-setup", In: check.V2, Passive: "resume-state"},
	{ID: "AK-CANCEL-009", Title: "A cancelled turn does not end with an error.", Tier: check.Must, Fact: "prompt-turn#cancellation", In: check.V1, Passive: "cancel-error"},
	{ID: "AK-ORDER-001", Title: "The updates of a turn, and of a history, precede the response, and so does what the agent asks for.", Tier: check.Should, Fact: "prompt-turn", In: check.V1, Passive: "late-update"},
	{ID: "AK-TOOL-001", Title: "A tool call has ended when its turn ends.", Tier: check.Should, Fact: "tool-calls", In: check.Both, Passive: "open-tool-call"},
	{ID: "AK-TOOL-004", Title: "A tool call is created once in its turn, and does not go on after a status that ends it.", Tier: check.Should, Fact: "tool-calls", In: check.Both, Passive: "tool-call-again"},
	{ID: "AK-MESSAGE-002", Title: "What a turn says does not go on in a message of an earlier turn.", Tier: check.Should, Fact: "prompt-turn", In: check.Both, Passive: "message-id-again"},
	{ID: "AK-TERMINAL-005", Title: "Terminals are used in their session, from the response to terminal/create to terminal/release.", Tier: check.Must, Fact: "terminals", In: check.V1, Passive: "terminal"},
}
