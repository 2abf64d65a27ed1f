package defect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// Agents are the defects of agents.
var Agents = slices.Concat(ofStart, ofMessages, ofSessions, ofTurns, ofPermission, ofClientSide, ofSettings, ofVersion2)

// notified selects a notification that nobody knows.
var notified = is("acptest/unknown").without(`"id"`)

// unasked returns a defect of an agent that sends an update to clients which have not advertised that they
// show it.
func unasked(what string, in check.Versions, members string) Defect {
	return Defect{Name: "unasked_" + what, Does: "sends " + what + " to clients that do not show them", In: in, ToCheck: follows(responds("session/new"), update(members)), Finds: "AK-CAPABILITY-001"}
}

// nobody is the id of a session that does not exist.
const nobody = "acptest-no-such-session"

// Members of responses.
const (
	invalidParams = `"error":{"code":-32602,"message":"Invalid params"}`
	internalError = `"error":{"code":-32603,"message":"Internal error"}`
	empty         = `"result":{}`
)

var ofStart = []Defect{
	{Name: "banner_on_stdout", Does: "prints a banner", ToCheck: precedes(responds("initialize"), "Welcome!"), Finds: "ACP-TRANSPORT-001"},
	{Name: "invalid_utf8", Does: "sends text that is not UTF-8", Own: true,
		ToCheck: func(w *Wire, m *Message) {
			w.LineToCheck(bytes.Replace(m.encode(), []byte(`"Done.`), []byte("\"Done\xff"), 1))
		},
		Finds: "ACP-TRANSPORT-002"},
	{Name: "ignores_end", Does: "does not end with its input", Deaf: true, Finds: "ACP-SHUTDOWN-001 AK-START-001"},
	{Name: "leaves_processes", Does: "ends without the processes that it has started", Leaves: true, Finds: "AK-START-002"},
	{Name: "leaves_zombies", Does: "does not wait for the processes that it has started", Zombies: true, Finds: "AK-START-002"},
	{Name: "refuses_initialize", Does: "fails every initialize", ToCheck: changes(responds("initialize"), fails(-32603, "Internal error")), Finds: "ACP-INIT-001"},
	{Name: "speaks_early", Does: "sends a notification before initialize", Early: `{"jsonrpc":"2.0","method":"_acptest/ready","params":{}}`, Finds: "AK-INIT-009"},
	{Name: "echoes_any_version", Does: "claims every version that it is asked for", ToCheck: changes(responds("initialize").after(`"protocolVersion":65535`), becomes(`{"protocolVersion":65535,"agentCapabilities":{}}`)), Finds: "ACP-INIT-003"},
	{Name: "speaks_version_0", Does: "claims to speak version 0", ToCheck: changes(responds("initialize").after(`"protocolVersion":0`), becomes(`{"protocolVersion":0,"agentCapabilities":{}}`)), Finds: "AK-INIT-001"},
	{Name: "hides_versions", Does: "does not say which versions it speaks", In: check.V2, ToCheck: changes(responds("initialize", "-32022"), fails(-32022, "Unsupported")), Finds: "AK-INIT-002"},
	{Name: "refuses_version_1", Does: "fails with an internal error if it is asked for version 1", In: check.V2, ToPeer: answersItself(is("initialize", `"protocolVersion":1`), internalError), Finds: "ACP-INIT-202"},
	{Name: "nameless", Does: "has no name", Own: true, ToCheck: changes(responds("initialize"), replace(`"name":"reference"`, `"_name":"reference"`)), Finds: "v1:AK-INIT-003 v1:ACP-SCHEMA-002 v2:ACP-INIT-203 v2:ACP-SCHEMA-001"},
	{Name: "misshapen_capabilities", Does: "advertises capabilities of a wrong type",
		ToCheck: changes(responds("initialize"), func(m *Message) {
			replace(`"image":{}`, `"image":true`)(m)
			replace(`"loadSession":true`, `"loadSession":"yes"`)(m)
		}),
		Finds: "ACP-INIT-204 ACP-SCHEMA-002 v1:AK-RPC-015"},
	{Name: "dies_at_second_initialize", Does: "reads nothing behind a second initialize",
		ToPeer: dies(is("initialize").first(`"session/`).first(`"protocolVersion":"x"`).after(`"protocolVersion"`)),
		Finds:  "AK-INIT-004"},
	{Name: "initializes_late", Does: "is initialized again after other requests", In: check.V2, ToCheck: changes(responds("initialize", "-32600"), becomes(`{"protocolVersion":2,"info":{"name":"reference","version":"1"}}`)), Finds: "AK-INIT-005"},
	{Name: "serves_before_initialize", Does: "starts sessions before initialize", ToPeer: answersItself(is("session/new").first(`"initialize"`), `"result":{"sessionId":"early"}`), Finds: "AK-INIT-006"},
	{Name: "dies_at_bad_initialize", Does: "reads nothing behind an initialize that it cannot read", ToPeer: dies(is("initialize", `"protocolVersion":"x"`)), Finds: "AK-INIT-007"},
	{Name: "refuses_null", Does: "refuses null for optional members", ToPeer: answersItself(is("session/list", `"cwd":null`), invalidParams), Finds: "AK-NULL-001"},
	{Name: "refuses_null_meta", Does: "refuses null as _meta", ToPeer: answersItself(is("initialize", `"_meta":null`), invalidParams), Finds: "AK-NULL-001"},
	{Name: "needs_capabilities", Does: "fails an initialize without capabilities", ToPeer: answersItself(is("initialize").without("apabilities"), internalError), Finds: "AK-NULL-002"},
	{Name: "needs_params", Does: "fails requests without params", ToPeer: answersItself(is("session/list").without(`"params"`), invalidParams), Finds: "AK-NULL-003"},
	{Name: "forgives_nothing", Does: "fails prompts whose annotations it cannot read", In: check.V1, ToPeer: answersItself(is("session/prompt", `"annotations":5`), invalidParams), Finds: "AK-NULL-004"},
	{Name: "strict_members", Does: "refuses members that it does not know", ToPeer: answersItself(is("session/new", `"acptest":{`), invalidParams), Finds: "AK-INIT-008"},
}

var ofMessages = []Defect{
	{Name: "result_and_error", Does: "sends responses with a result and an error",
		ToCheck: changes(responds("_acptest/ping"), func(m *Message) { m.Set("result", "{}") }),
		Finds:   "ACP-JSONRPC-002 ACP-TRANSPORT-001 AK-ID-005"},
	{Name: "no_jsonrpc", Does: "sends responses of JSON-RPC 1.0", ToCheck: changes(responds("_acptest/ping"), func(m *Message) { m.Set("jsonrpc", `"1.0"`) }), Finds: "ACP-JSONRPC-002 ACP-TRANSPORT-001"},
	{Name: "answers_notifications", Does: "responds to notifications", ToPeer: precedes(notified, `{"jsonrpc":"2.0","id":null,"result":{}}`), Finds: "ACP-JSONRPC-003"},
	{Name: "knows_every_method", Does: "responds to unknown methods with a result", ToCheck: changes(responds("acptest/unknown"), becomes("{}")), Finds: "ACP-JSONRPC-004"},
	{Name: "other_code_for_methods", Does: "fails with another code than -32601 for unknown methods", ToCheck: changes(responds("acptest/unknown"), fails(-32600, "Invalid request")), Finds: "ACP-JSONRPC-004"},
	{Name: "internal_error_for_params", Does: "fails with an internal error for params that it cannot read", ToCheck: changes(responds("session/new", "-32602"), fails(-32603, "Internal error")), Finds: "AK-RPC-011 v2:AK-OPTIONS-004 v2:AK-MCP-001 v2:AK-MCP-002"},
	{Name: "silent_extensions", Does: "does not answer requests of extensions", ToPeer: drops(is("_acptest/unknown")), Finds: "ACP-EXT-001"},
	{Name: "knows_every_extension", Does: "responds to requests of unknown extensions with a result", ToCheck: changes(responds("_acptest/other"), becomes("null")), Finds: "AK-EXT-001"},
	{Name: "stops_at_bad_json", Does: "reads nothing after a line that is not JSON", ToPeer: dies(line("{nonsense")), Finds: "AK-PARSE-001"},
	{Name: "silent_at_bad_json", Does: "does not tell that a line is not JSON", ToPeer: drops(line("[nonsense")), Finds: "AK-PARSE-002"},
	{Name: "stops_at_scalars", Does: "reads nothing after JSON that is no object",
		ToPeer: dies(func(_ *Wire, m *Message) bool { return string(m.Raw) == "5" }),
		Finds:  "AK-RPC-001"},
	{Name: "answers_responses", Does: "responds to responses with an error", ToPeer: precedes(line(`"id":4711`, `"result"`), `{"jsonrpc":"2.0","id":4711,"error":{"code":-32600,"message":"Invalid request"}}`), Finds: "AK-RPC-002"},
	{Name: "stops_at_batch", Does: "reads nothing after a batch", ToPeer: dies(begins("[{")), Finds: "AK-RPC-003"},
	{Name: "ignores_batch", Does: "ignores a batch", ToPeer: drops(begins("[{")), Finds: "AK-RPC-004"},
	{Name: "takes_batches_apart", Does: "answers the requests of a batch one by one", ToPeer: precedes(begins("[{"), `{"jsonrpc":"2.0","id":501,"result":{}}`), Finds: "AK-RPC-016"},
	{Name: "stops_at_latin_1", Does: "reads nothing after a text in Latin-1", ToPeer: dies(line("\xe9\"")), Finds: "AK-PARSE-003"},
	{Name: "stops_at_bad_utf8", Does: "reads nothing after a line that is not UTF-8", ToPeer: dies(line("\xff")), Finds: "AK-PARSE-003"},
	{Name: "cancels_what_has_ended", Does: "answers a request again when it is cancelled after its end", ToPeer: func(w *Wire, m *Message) {
		id := string(check.At(m.Object["params"], "requestId"))
		if one := w.requests[fmt.Sprint(true, id)]; is("$/cancel_request")(w, m) && one != nil && one.answered {
			w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32800,"message":"Request cancelled"}}`))
		}
		w.pass(m)
	}, Finds: "AK-RPC-008"},
	{Name: "takes_id_null_for_none", Does: "does not answer requests with the id null", In: check.V1, ToPeer: drops(is("_acptest/ping", `"id":null`)), Finds: "AK-ID-004"},
	{Name: "no_crlf", Does: "ignores lines with a carriage return", ToPeer: drops(line("\r")), Finds: "AK-RPC-005"},
	{Name: "no_blank_lines", Does: "ignores what follows a blank line", ToPeer: drops(begins("\n")), Finds: "AK-RPC-006"},
	{Name: "one_line_at_a_time", Does: "drops what arrives together with another line",
		ToPeer: changes(line("}\n{"), func(m *Message) { m.Raw, _, _ = bytes.Cut(m.Raw, []byte("\n")) }),
		Finds:  "AK-RPC-007"},
	{Name: "stops_at_unknown_cancel", Does: "reads nothing after a cancel of an unknown request", ToPeer: dies(is("$/cancel_request", "4711")), Finds: "AK-RPC-008"},
	{Name: "forgets_cancelled_requests", Does: "does not answer requests after $/cancel_request", In: check.V1, ToCheck: drops(responds("session/prompt").after("$/cancel_request")), Finds: "AK-RPC-009"},
	{Name: "ignores_id_0", Does: "does not answer requests with the id 0", ToPeer: drops(is("_acptest/ping", `"id":0,`)), Finds: "AK-ID-001"},
	{Name: "ignores_string_ids", Does: "does not answer requests with an id that is a string", ToPeer: drops(is("_acptest/ping", `"id":"`)), Finds: "AK-ID-002 AK-ID-011 AK-ID-013 v2:AK-RPC-012"},
	{Name: "rounds_ids", Does: "reads ids as floating-point numbers",
		ToCheck: changes(responds("_acptest/ping", "9223372036854775807"), func(m *Message) { m.Set("id", "9223372036854775808") }),
		Finds:   "AK-ID-003"},
	{Name: "stops_at_id_null", Does: "reads nothing after a request with the id null", ToPeer: dies(is("_acptest/ping", `"id":null`)), Finds: "AK-ID-004"},
	{Name: "serves_fractions", Does: "answers requests with a fraction as id", In: check.V2, ToPeer: answersItself(is("_acptest/ping", `"id":7.5`), empty), Finds: "AK-ID-004"},
	{Name: "forgets_id", Does: "forgets a request when its id is used twice", In: check.V1, ToCheck: drops(responds("_acptest/ping", "stopReason")), Finds: "AK-ID-005"},
	{Name: "ids_only_once", Does: "ignores an id that was used before", ToPeer: drops(is("_acptest/ping", `"id":700`).after(`"id":700`)), Finds: "AK-ID-006"},
	{Name: "wrong_id_echo", Does: "sends a response with an id that no request has", ToCheck: precedes(responds("initialize"), `{"jsonrpc":"2.0","id":"lost","result":{}}`), Finds: "ACP-JSONRPC-001"},
	{Name: "answers_twice", Does: "responds to session/new twice", ToCheck: doubles(responds("session/new")), Finds: "AK-RPC-010"},
	{Name: "repeats_questions", Does: "asks for permission many times with the same id", ToCheck: repeats(is("session/request_permission"), 20), Finds: "AK-ID-007"},
	{Name: "fractional_ids", Does: "uses fractions as ids", In: check.V2, ToCheck: precedes(responds("session/new"), `{"jsonrpc":"2.0","id":1.5,"method":"_acptest/ask","params":{}}`), Finds: "AK-ID-008"},
	{Name: "invalid_updates", Does: "sends updates that break the schema", ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"usage_update","used":"x","size":1`)), Finds: "ACP-SCHEMA-001"},
	{Name: "unknown_methods", Does: "sends a method of its own without an underscore", ToCheck: precedes(responds("session/new"), `{"jsonrpc":"2.0","method":"acptest/status","params":{}}`), Finds: "AK-METHOD-001"},
	{Name: "sends_as_client", Does: "sends what only clients send", ToCheck: follows(responds("session/new"), `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"$S"}}`), Finds: "AK-METHOD-002"},
	{Name: "updates_as_requests", Does: "sends updates as requests", ToCheck: follows(responds("session/new"), strings.Replace(update(`"sessionUpdate":"usage_update","used":1,"size":1`), `{`, `{"id":"u-$N",`, 1)), Finds: "AK-METHOD-003"},
	{Name: "uses_unadvertised", Does: "shows a form to a client that has none", ToCheck: follows(responds("session/new"), `{"jsonrpc":"2.0","id":"$S","method":"elicitation/create","params":`+`{"sessionId":"$S","mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`), Finds: "AK-CAPABILITY-001"},
	unasked("notices", check.V1, `"sessionUpdate":"notice","severity":"info","title":"Hello."`),
	unasked("compaction", check.V1, `"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"`),
	unasked("subagents", check.V1, `"sessionUpdate":"subagent_update","sessionId":"child-$N"`),
	unasked("switches", check.V1, `"sessionUpdate":"config_option_update","configOptions":[{"id":"b","name":"B","type":"boolean","currentValue":true}]`),
	unasked("cursors", check.V1, `"sessionUpdate":"cursor_update","cursorId":"c-$N","anchor":{"type":"user_message","messageId":"m","position":"after"}`),
	unasked("suggestions", check.Both, `"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":"Go on."}]}]`),
	unasked("skills", check.V2, `"sessionUpdate":"available_commands_update","availableCommands":[{"type":"skill","name":"x","description":"X"}]`),
	{Name: "untitled_tool_calls", Does: "begins tool calls without a title", In: check.V1, ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"tool_call","toolCallId":"c-$N","status":"completed"`)), Finds: "ACP-SCHEMA-001"},
	{Name: "text_for_base64", Does: "sends the output of commands as text", In: check.V2, ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"not base64!"`)), Finds: "ACP-SCHEMA-001"},
	{Name: "asks_without_options", Does: "asks for permission without options", In: check.V2, ToCheck: follows(responds("session/new"), `{"jsonrpc":"2.0","id":"$S","method":"session/request_permission","params":{"sessionId":"$S","title":"May I?","options":[]}}`), Finds: "ACP-SCHEMA-001"},
	{Name: "update_wrong_session", Does: "sends an update for an unknown session", ToCheck: follows(responds("session/new"), strings.Replace(update(`"sessionUpdate":"usage_update","used":1,"size":1`), "$S", "other", 1)), Finds: "ACP-PROMPT-002"},
	{Name: "empty_errors", Does: "sends errors without a message", ToCheck: changes(responds("acptest/unknown"), fails(-32601, "")), Finds: "ACP-ERROR-001"},
	{Name: "shows_stack", Does: "shows a stack trace in an error", ToCheck: changes(responds("acptest/unknown"), fails(-32601, "no\n    at Agent.run (/app/agent.js:10:5)")), Finds: "AK-ERROR-001"},
	{Name: "shows_params", Does: "shows the params in an error", ToPeer: answersItself(is("session/new", "acptest-secret"), `"error":{"code":-32602,"message":"Invalid params","data":{"env":"acptest-secret-5b1c9e"}}`), Finds: "AK-ERROR-002"},
	{Name: "reserved_codes", Does: "uses a code that is reserved", ToCheck: changes(responds("session/prompt", "-32002"), fails(-32050, "No session")), Finds: "AK-ERROR-003 AK-SESSION-001"},
	{Name: "code_of_sign_in", Does: "fails with the code of a sign-in for a session that does not exist", ToCheck: changes(responds("session/prompt", "-32002"), fails(-32000, "No session")), Finds: "AK-ERROR-003 AK-SESSION-001"},
	{Name: "forms_for_all", Does: "shows forms to clients that open URLs", ToCheck: follows(responds("session/new").after(`"elicitation"`), `{"jsonrpc":"2.0","id":"form-$N","method":"elicitation/create","params":{"sessionId":"$S","mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`), Finds: "AK-CAPABILITY-001"},
	{Name: "short_prompts", Does: "does not read long prompts", ToPeer: drops(is("session/prompt").longer(2000)), Finds: "AK-SIZE-001"},
	{Name: "takes_empty_id_for_none", Does: "does not answer requests whose id is an empty text", ToPeer: drops(is("_acptest/ping", `"id":""`)), Finds: "AK-ID-013"},
	{Name: "ignores_negative_ids", Does: "does not answer requests with a negative id", ToPeer: drops(is("_acptest/ping", `"id":-7`)), Finds: "AK-ID-009"},
	{Name: "ignores_large_ids", Does: "does not answer requests with an id beyond 32 bits", ToPeer: drops(is("_acptest/ping", `"id":9007199254740991`)), Finds: "AK-ID-010"},
	{Name: "answers_cancel_and_end", Does: "answers a request when it is cancelled, and again when it ends", In: check.V1, ToPeer: answersCancel(false), Finds: "AK-RPC-010"},
	{Name: "takes_text_for_number", Does: "takes an id in quotes for the number", ToCheck: changes(responds("_acptest/ping", `"id":"77"`), func(m *Message) { m.Set("id", "77") }), Finds: "AK-ID-011 AK-RPC-010"},
	{Name: "mixes_up_ids", Does: "does not answer a request with the id of one of its own", ToPeer: drops(is("_acptest/ping").after("#ask")), Finds: "AK-ID-012 AK-PERM-007"},
	{Name: "cancels_by_text", Does: "cancels the request 7 by the id \"7\"", In: check.V1, ToPeer: changes(line("$/cancel_request"), replace(`"requestId":"7007"`, `"requestId":7007`)), Finds: "AK-RPC-012"},
	{Name: "ends_lines_at_unicode", Does: "takes U+2028 for the end of a line", ToPeer: drops(line("\u2028")), Finds: "AK-RPC-013"},
	{Name: "notes_cancel_requests", Does: "does not answer session/cancel as a request", ToPeer: drops(is("session/cancel", `"id":`)), Finds: "AK-RPC-014"},
	{Name: "serves_unadvertised", Does: "serves what it does not advertise", In: check.V1, Own: true, ToPeer: answersItself(is("logout"), empty), Finds: "AK-RPC-015"},
	{Name: "wrong_status", Does: "has a status that does not exist, where readers forgive it", In: check.V1, Own: true, ToCheck: changes(is("session/update"), replace(`"status":"completed"`, `"status":"done"`)), Finds: "ACP-SCHEMA-002 AK-TOOL-001"},
	{Name: "bare_content", Does: "puts bare blocks into tool calls", In: check.V1, ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"completed","content":[{"type":"text","text":"x"}]`)), Finds: "ACP-SCHEMA-002"},
	{Name: "bare_content_in_updates", Does: "puts bare blocks into tool calls", In: check.V2, ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","status":"completed","content":[{"type":"text","text":"x"}]`)), Finds: "ACP-ENUM-202"},
	{Name: "number_for_date", Does: "sends a number for a date", ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"session_info_update","updatedAt":17`)), Finds: "ACP-SCHEMA-002"},
	{Name: "own_words", Does: "uses words of its own without an underscore", In: check.V2, ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"weather_update"`)), Finds: "ACP-ENUM-202"},
	{Name: "relative_locations", Does: "names files by relative paths", ToCheck: changes(is("session/update", `"sessionUpdate":"tool_call`).without(`"locations"`), replace(`"toolCallId":"`, `"locations":[{"path":"a.txt"}],"toolCallId":"`)), Finds: "AK-PATH-001"},
	{Name: "unknown_tools", Does: "changes tool calls that it has not created", In: check.V1, ToCheck: precedes(responds("session/prompt", "end_turn"), update(`"sessionUpdate":"tool_call_update","toolCallId":"none","status":"completed"`)), Finds: "AK-TOOL-002 v1:AK-ORDER-001"},
	{Name: "short_lines", Does: "reads nothing after a long line", ToPeer: dies(line().longer(50_000)), Finds: "AK-SIZE-002"},
}
