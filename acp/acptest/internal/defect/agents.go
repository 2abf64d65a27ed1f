package defect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

const (
	fail = check.Fail
	inc  = check.Inconclusive
)

// Agents are the defects of agents.
var Agents = slices.Concat(ofStart, ofMessages, ofSessions, ofTurns, ofPermission, ofClientSide, ofSettings, ofVersion2)

// nobody is the id of a session that does not exist.
const nobody = "acptest-no-such-session"

// Members of responses.
const (
	invalidParams = `"error":{"code":-32602,"message":"Invalid params"}`
	internalError = `"error":{"code":-32603,"message":"Internal error"}`
	empty         = `"result":{}`
)

var ofStart = []Defect{
	{Name: "banner_on_stdout", Does: "prints a banner",
		New:   precedes(responds("initialize"), "Welcome!"),
		Finds: found("ACP-TRANSPORT-001", "")},
	{Name: "invalid_utf8", Does: "sends text that is not UTF-8", Own: true,
		New: toCheck(func(w *Wire, m *Message) {
			w.LineToCheck(bytes.Replace(m.encode(), []byte(`"Done.`), []byte("\"Done\xff"), 1))
		}),
		Finds: found("ACP-TRANSPORT-002", "")},
	{Name: "ignores_end", Does: "does not end with its input", Deaf: true,
		Finds: found("ACP-SHUTDOWN-001 AK-START-001", "AK-START-002 AK-LOAD-002")},
	{Name: "leaves_processes", Does: "ends without the processes that it has started", Leaves: true,
		Finds: found("AK-START-002", "")},
	{Name: "leaves_zombies", Does: "does not wait for the processes that it has started", Zombies: true,
		Finds: found("AK-START-002", "")},
	{Name: "refuses_initialize", Does: "fails every initialize",
		New:   changes(responds("initialize"), func(m *Message) { m.fails(-32603, "Internal error") }),
		Finds: map[string]check.Verdict{"ACP-INIT-001": fail, "*": inc}},
	{Name: "speaks_early", Does: "sends a notification before initialize",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			w.LineToCheck([]byte(`{"jsonrpc":"2.0","method":"_acptest/ready","params":{}}`))
			return nil, nil
		},
		Finds: found("AK-INIT-009", "")},
	{Name: "echoes_any_version", Does: "claims every version that it is asked for",
		New:   changes(responds("initialize").after(`"protocolVersion":65535`), becomes(`{"protocolVersion":65535,"agentCapabilities":{}}`)),
		Finds: found("ACP-INIT-003", "")},
	{Name: "speaks_version_0", Does: "claims to speak version 0",
		New:   changes(responds("initialize").after(`"protocolVersion":0`), becomes(`{"protocolVersion":0,"agentCapabilities":{}}`)),
		Finds: found("AK-INIT-001", "")},
	{Name: "hides_versions", Does: "does not say which versions it speaks", In: check.V2,
		New:   changes(responds("initialize", "-32022"), func(m *Message) { m.fails(-32022, "Unsupported") }),
		Finds: found("AK-INIT-002", "")},
	{Name: "refuses_version_1", Does: "fails with an internal error if it is asked for version 1", In: check.V2,
		New:   answersItself(is("initialize", `"protocolVersion":1`), internalError),
		Finds: found("ACP-INIT-202", "")},
	{Name: "nameless", Does: "has no name", Own: true,
		New:   changes(responds("initialize"), replace(`"name":"reference"`, `"name":""`)),
		Finds: found("v1:AK-INIT-003 v2:ACP-INIT-203", "")},
	{Name: "misshapen_capabilities", Does: "advertises capabilities of a wrong type",
		New: changes(responds("initialize"), func(m *Message) {
			replace(`"image":{}`, `"image":true`)(m)
			replace(`"loadSession":true`, `"loadSession":"yes"`)(m)
		}),
		Finds: found("ACP-INIT-204", "")},
	{Name: "dies_at_second_initialize", Does: "reads nothing behind a second initialize",
		New: dies(func(w *Wire, m *Message) bool {
			return m.Method == "initialize" && len(w.log) > 0 && w.log[len(w.log)-1].has(`"protocolVersion"`) && !w.log[len(w.log)-1].has(`"x"`)
		}),
		Finds: found("AK-INIT-004", "")},
	{Name: "initializes_late", Does: "is initialized again after other requests", In: check.V2,
		New:   changes(responds("initialize", "-32600"), becomes(`{"protocolVersion":2,"info":{"name":"reference","version":"1"}}`)),
		Finds: found("AK-INIT-005", "")},
	{Name: "serves_before_initialize", Does: "starts sessions before initialize", In: check.V2,
		New:   answersItself(is("session/new").first(`"initialize"`), `"result":{"sessionId":"early"}`),
		Finds: found("AK-INIT-006", "")},
	{Name: "dies_at_bad_initialize", Does: "reads nothing behind an initialize that it cannot read",
		New:   dies(is("initialize", `"protocolVersion":"x"`)),
		Finds: found("AK-INIT-007", "")},
	{Name: "strict_members", Does: "refuses members that it does not know",
		New:   answersItself(is("session/new", `"acptest":{`), invalidParams),
		Finds: found("AK-INIT-008", "")},
}

var ofMessages = []Defect{
	{Name: "result_and_error", Does: "sends responses with a result and an error",
		New:   changes(responds("_acptest/ping"), func(m *Message) { m.Set("result", "{}") }),
		Finds: found("ACP-JSONRPC-002 ACP-TRANSPORT-001 AK-ID-005", "")},
	{Name: "answers_notifications", Does: "responds to notifications",
		New: toPeer(func(w *Wire, m *Message) {
			if m.Object["id"] == nil && m.Method == "acptest/unknown" {
				w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":null,"result":{}}`))
			}
			w.ToPeer(m)
		}),
		Finds: found("ACP-JSONRPC-003", "")},
	{Name: "knows_every_method", Does: "responds to unknown methods with a result",
		New:   changes(responds("acptest/unknown"), becomes("{}")),
		Finds: found("ACP-JSONRPC-004", "")},
	{Name: "internal_error_for_params", Does: "fails with an internal error for params that it cannot read",
		New:   changes(responds("session/new", "-32602"), func(m *Message) { m.fails(-32603, "Internal error") }),
		Finds: found("AK-RPC-011", "")},
	{Name: "silent_extensions", Does: "does not answer requests of extensions",
		New:   ignores(is("_acptest/unknown")),
		Finds: found("ACP-EXT-001", "")},
	{Name: "knows_every_extension", Does: "responds to requests of unknown extensions with a result",
		New:   changes(responds("_acptest/other"), becomes("null")),
		Finds: found("AK-EXT-001", "")},
	{Name: "stops_at_bad_json", Does: "reads nothing after a line that is not JSON",
		New:   dies(line("{nonsense")),
		Finds: found("AK-PARSE-001", "")},
	{Name: "silent_at_bad_json", Does: "does not tell that a line is not JSON",
		New:   ignores(line("[nonsense")),
		Finds: found("AK-PARSE-002", "")},
	{Name: "stops_at_scalars", Does: "reads nothing after JSON that is no object",
		New:   dies(func(_ *Wire, m *Message) bool { return string(m.Raw) == "5" }),
		Finds: found("AK-RPC-001", "")},
	{Name: "answers_responses", Does: "responds to responses with an error",
		New: toPeer(func(w *Wire, m *Message) {
			if m.has(`"id":4711`, `"result"`) {
				w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":4711,"error":{"code":-32600,"message":"Invalid request"}}`))
			}
			w.ToPeer(m)
		}),
		Finds: found("AK-RPC-002", "")},
	{Name: "stops_at_batch", Does: "reads nothing after a batch",
		New:   dies(begins("[{")),
		Finds: found("AK-RPC-003", "")},
	{Name: "ignores_batch", Does: "ignores a batch",
		New:   ignores(begins("[{")),
		Finds: found("AK-RPC-004", "")},
	{Name: "no_crlf", Does: "ignores lines with a carriage return",
		New:   ignores(line("\r")),
		Finds: found("AK-RPC-005", "")},
	{Name: "no_blank_lines", Does: "ignores what follows a blank line",
		New:   ignores(begins("\n")),
		Finds: found("AK-RPC-006", "")},
	{Name: "one_line_at_a_time", Does: "drops what arrives together with another line",
		New:   tells(line("}\n{"), func(m *Message) { m.Raw, _, _ = bytes.Cut(m.Raw, []byte("\n")) }),
		Finds: found("AK-RPC-007", "")},
	{Name: "stops_at_unknown_cancel", Does: "reads nothing after a cancel of an unknown request",
		New:   dies(is("$/cancel_request", "4711")),
		Finds: found("AK-RPC-008", "")},
	{Name: "forgets_cancelled_requests", Does: "does not answer requests after $/cancel_request", In: check.V1,
		New:   drops(responds("session/prompt").after("$/cancel_request")),
		Finds: found("AK-RPC-009", "")},
	{Name: "ignores_id_0", Does: "does not answer requests with the id 0",
		New:   ignores(is("initialize", `"id":0`)),
		Finds: found("AK-ID-001", "")},
	{Name: "ignores_string_ids", Does: "does not answer requests with an id that is a string",
		New:   ignores(is("initialize", `"id":"`)),
		Finds: found("AK-ID-002", "")},
	{Name: "rounds_ids", Does: "reads ids as floating-point numbers",
		New:   changes(responds("initialize", "9223372036854775807"), func(m *Message) { m.Set("id", "9223372036854775808") }),
		Finds: found("AK-ID-003", "")},
	{Name: "stops_at_id_null", Does: "reads nothing after a request with the id null",
		New:   dies(is("_acptest/ping", `"id":null`)),
		Finds: found("AK-ID-004", "")},
	{Name: "forgets_id", Does: "forgets a request when its id is used twice", In: check.V1,
		New:   drops(responds("_acptest/ping", "stopReason")),
		Finds: found("AK-ID-005", "")},
	{Name: "ids_only_once", Does: "ignores an id that was used before",
		New:   ignores(is("_acptest/ping", `"id":700`).after(`"id":700`)),
		Finds: found("AK-ID-006", "")},
	{Name: "wrong_id_echo", Does: "sends a response with an id that no request has",
		New:   precedes(responds("initialize"), `{"jsonrpc":"2.0","id":"lost","result":{}}`),
		Finds: found("ACP-JSONRPC-001 AK-ID-001 AK-ID-002 AK-ID-003", "")},
	{Name: "answers_twice", Does: "responds to session/new twice",
		New: toCheck(func(w *Wire, m *Message) {
			w.ToCheck(m)
			if m.Response && m.Method == "session/new" {
				w.ToCheck(m)
			}
		}),
		Finds: found("AK-RPC-010", "")},
	{Name: "repeats_questions", Does: "asks for permission twice with the same id",
		New: toCheck(func(w *Wire, m *Message) {
			w.ToCheck(m)
			if m.Method == "session/request_permission" && !m.Response {
				w.ToCheck(m)
			}
		}),
		Finds: found("AK-ID-007", "")},
	{Name: "fractional_ids", Does: "uses fractions as ids", In: check.V2,
		New:   precedes(responds("session/new"), `{"jsonrpc":"2.0","id":1.5,"method":"_acptest/ask","params":{}}`),
		Finds: found("AK-ID-008", "")},
	{Name: "invalid_updates", Does: "sends updates that break the schema",
		New:   follows(responds("session/new"), update(`"sessionUpdate":"usage_update","used":"x","size":1`)),
		Finds: found("ACP-SCHEMA-001", "")},
	{Name: "unknown_methods", Does: "sends a method of its own without an underscore",
		New:   precedes(responds("session/new"), `{"jsonrpc":"2.0","method":"acptest/status","params":{}}`),
		Finds: found("AK-METHOD-001", "")},
	{Name: "sends_as_client", Does: "sends what only clients send",
		New:   follows(responds("session/new"), `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"$S"}}`),
		Finds: found("AK-METHOD-002", "")},
	{Name: "updates_as_requests", Does: "sends updates as requests",
		New:   follows(responds("session/new"), strings.Replace(update(`"sessionUpdate":"usage_update","used":1,"size":1`), `{`, `{"id":"u",`, 1)),
		Finds: found("AK-METHOD-003", "")},
	{Name: "uses_unadvertised", Does: "shows a form to a client that has none",
		New: follows(responds("session/new"), `{"jsonrpc":"2.0","id":"$S","method":"elicitation/create","params":`+
			`{"sessionId":"$S","mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`),
		Finds: found("AK-CAPABILITY-001", "")},
	{Name: "update_wrong_session", Does: "sends an update for an unknown session",
		New:   follows(responds("session/new"), strings.Replace(update(`"sessionUpdate":"usage_update","used":1,"size":1`), "$S", "other", 1)),
		Finds: found("ACP-PROMPT-002", "")},
	{Name: "empty_errors", Does: "sends errors without a message",
		New:   changes(responds("acptest/unknown"), func(m *Message) { m.fails(-32601, "") }),
		Finds: found("ACP-ERROR-001", "")},
	{Name: "shows_stack", Does: "shows a stack trace in an error",
		New:   changes(responds("acptest/unknown"), func(m *Message) { m.fails(-32601, "no\n    at Agent.run (/app/agent.js:10:5)") }),
		Finds: found("AK-ERROR-001", "")},
	{Name: "shows_params", Does: "shows the params in an error",
		New:   answersItself(is("session/new", "acptest-secret"), `"error":{"code":-32602,"message":"Invalid params","data":{"env":"acptest-secret-5b1c9e"}}`),
		Finds: found("AK-ERROR-002", "")},
	{Name: "reserved_codes", Does: "uses a code that is reserved",
		New:   changes(responds("session/prompt", "-32002"), func(m *Message) { m.fails(-32050, "No session") }),
		Finds: found("AK-ERROR-003 AK-SESSION-001", "")},
	{Name: "short_prompts", Does: "does not read long prompts",
		New:   ignores(func(_ *Wire, m *Message) bool { return m.Method == "session/prompt" && len(m.Raw) > 2000 }),
		Finds: found("AK-SIZE-001", "")},
	{Name: "short_lines", Does: "reads nothing after a long line",
		New:   dies(func(_ *Wire, m *Message) bool { return len(m.Raw) > 50_000 }),
		Finds: found("AK-SIZE-002", "")},
}
