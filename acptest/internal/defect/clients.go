package defect

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// Clients are the defects of clients that are visible on the wire.
var Clients = []Defect{
	{Name: "begins_without_initialize", Does: "begins with another request", ToCheck: changes(is("initialize"), func(m *Message) { m.Set("method", `"session/new"`) }), Finds: "AKC-INIT-001"},
	{Name: "accepts_any_version", Does: "goes on with an agent of a version that it does not speak", ToPeer: changes(responds("initialize"), replace(`"protocolVersion":65535`, `"protocolVersion":1`)), Finds: "AKC-INIT-002"},
	{Name: "ignores_refusal", Does: "goes on when initialize has failed", ToPeer: changes(responds("initialize", `"error"`), becomes(`{"protocolVersion":1,"agentCapabilities":{}}`)), Finds: "AKC-INIT-003"},
	{Name: "stops_at_unknown_capability", Does: "reads nothing after a capability that it does not know", ToPeer: stopsAt(line("acptestCapability")), Finds: "AKC-INIT-004"},
	{Name: "needs_members", Does: "stops at null in the result of initialize", ToPeer: stopsAt(responds("initialize", `"_meta":null`)), Finds: "AKC-INIT-005"},
	{Name: "stops_at_modes", Does: "stops at a session that has settings", ToPeer: stopsAt(responds("session/new", "acptestMember")), Finds: "AKC-SESSION-004"},
	{Name: "stays_signed_out", Does: "opens no session when it has signed in", In: check.V1, ToCheck: drops(func(w *Wire, m *Message) bool {
		for _, one := range w.requests {
			if is("session/new")(w, m) && one.Method == "authenticate" {
				return true
			}
		}
		return false
	}), Finds: "AKC-AUTH-003"},
	{Name: "relative_folder", Does: "opens its session in a relative folder",
		ToCheck: changes(is("session/new"), func(m *Message) { m.Set("params", `{"cwd":"work","mcpServers":[]}`) }),
		Finds:   "AKC-SESSION-001"},
	{Name: "prompts_without_session", Does: "sends a prompt though session/new has failed", ToPeer: precedes(responds("session/new", `"error"`), `{"jsonrpc":"2.0","id":900,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Hello."}]}}`), Finds: "AKC-SESSION-002"},
	{Name: "lowers_session_ids", Does: "writes the ids of sessions in lower case", ToCheck: changes(is("session/prompt"), replace("Acp/test", "acp/test")), Finds: "AKC-SESSION-003"},
	{Name: "signs_in_by_guess", Does: "signs in by a method that is not offered", In: check.V1, ToCheck: changes(is("authenticate"), replace("acptest-login", "oauth")), Finds: "AKC-AUTH-001"},

	{Name: "knows_every_method", Does: "responds to unknown methods with a result", ToCheck: changes(responds("acptest/unknown"), becomes("{}")), Finds: "AKC-RPC-001"},
	{Name: "answers_notifications", Does: "responds to notifications", ToPeer: precedes(notified, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`), Finds: "AKC-RPC-002"},
	{Name: "empty_id_is_none", Does: "takes an empty string for no id",
		ToCheck: changes(responds("_acptest/ping", `"id":""`), func(m *Message) { m.Set("id", "null") }),
		Finds:   "AKC-RPC-003"},
	{Name: "rounds_ids", Does: "reads ids as floating point numbers",
		ToCheck: changes(responds("_acptest/ping", "9223372036854775807"), func(m *Message) { m.Set("id", "9223372036854775808") }),
		Finds:   "AKC-RPC-004"},
	{Name: "ignores_id_0", Does: "does not answer requests with the id 0", ToPeer: drops(is("_acptest/ping", `"id":0,`)), Finds: "AKC-RPC-003"},
	{Name: "ignores_negative_ids", Does: "does not answer requests with a negative id", ToPeer: drops(is("_acptest/ping", `"id":-7`)), Finds: "AKC-RPC-003"},
	{Name: "ignores_large_ids", Does: "does not answer requests with an id beyond 32 bits", ToPeer: drops(is("_acptest/ping", `"id":9007199254740991`)), Finds: "AKC-RPC-003"},
	{Name: "forgets_cancelled_requests", Does: "does not answer requests after $/cancel_request", ToCheck: func(w *Wire, m *Message) {
		if !responds(permission)(w, m) {
			w.pass(m)
			return
		}
		w.later(func() { // when the cancel behind the request has come, too
			if w.sent(`"requestId":`+string(m.Object["id"])) == 0 {
				w.pass(m)
			}
		})
	}, Finds: "AKC-RPC-019"},
	{Name: "stops_at_unknown_cancel", Does: "reads nothing after a cancel of an unknown request", ToPeer: stopsAt(is("$/cancel_request", "4711")), Finds: "AKC-RPC-020"},
	{Name: "answers_twice", Does: "sends its responses twice", ToCheck: doubles(responds("_acptest/ping")), Finds: "AKC-RPC-005"},
	{Name: "repeats_answers", Does: "answers questions twice", ToCheck: doubles(responds(permission)), Finds: "AKC-WIRE-004"},
	{Name: "answers_cancel_and_end", Does: "answers a request when it is cancelled, and when it ends", ToPeer: answersCancel(true), Finds: "AKC-WIRE-004"},
	{Name: "relative_directories", Does: "adds a relative directory to its session", ToCheck: changes(is("session/new"), replace(`"cwd":`, `"additionalDirectories":["more"],"cwd":`)), Finds: "AKC-WIRE-007 AKC-WIRE-012"},
	{Name: "waits_for_its_own_request", Does: "answers nothing before session/new is answered", ToPeer: drops(is("_acptest/ping").first(`"result":{"sessionId"`)), Finds: "AKC-RPC-006"},
	{Name: "refuses_unknown_members", Does: "fails requests with members that it does not know", ToPeer: answersItself(line("acptestMember", `"method"`), invalidParams), Finds: "AKC-RPC-007"},
	{Name: "stops_at_unknown_response", Does: "reads nothing after a response to no request", ToPeer: stopsAt(line(`"id":"acptest-unknown"`)), Finds: "AKC-RPC-008"},
	{Name: "stops_at_bad_json", Does: "reads nothing after a line that is not JSON",
		ToPeer: stopsAt(func(_ *Wire, m *Message) bool { return !json.Valid(m.Raw) }),
		Finds:  "AKC-RPC-009 AKC-RPC-010"},
	{Name: "stops_at_bad_utf8", Does: "reads nothing after a line that is not UTF-8", ToPeer: stopsAt(line("\xff")), Finds: "AKC-RPC-022"},
	{Name: "stops_at_latin_1", Does: "reads nothing after a text in Latin-1", ToPeer: stopsAt(line("\xe9\"")), Finds: "AKC-RPC-022"},
	{Name: "stops_at_empty_lines", Does: "reads nothing after an empty line", ToPeer: stopsAt(begins("\r\n")), Finds: "AKC-RPC-011"},
	{Name: "stops_at_batches", Does: "reads nothing after an array", ToPeer: stopsAt(line(`[{"jsonrpc"`)), Finds: "AKC-RPC-012"},
	{Name: "reads_short_lines", Does: "reads nothing after a line of more than 64 KiB", ToPeer: stopsAt(line().longer(64 << 10)), Finds: "AKC-RPC-013"},
	{Name: "stops_at_failed_prompt", Does: "hangs when a prompt fails", In: check.V1, ToPeer: stopsAt(responds("session/prompt", `"error"`)), Finds: "AKC-RPC-014"},

	{Name: "prints_a_banner", Does: "writes a line that is no message", ToCheck: follows(is("session/new"), "Connected."), Finds: "AKC-WIRE-001"},
	{Name: "invalid_prompts", Does: "sends prompts whose text has another name", ToCheck: changes(is("session/prompt"), replace(`"text":"`, `"words":"`)), Finds: "AKC-WIRE-002"},
	{Name: "answers_unasked", Does: "sends a response to no request", ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","id":"unasked","result":{}}`), Finds: "AKC-WIRE-003"},
	{Name: "uses_ids_twice", Does: "sends its prompts twice", In: check.V1, ToCheck: doubles(is("session/prompt")), Finds: "AKC-WIRE-005"},
	{Name: "invents_methods", Does: "sends a notification of a method that does not exist", ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","method":"session/greet","params":{}}`), Finds: "AKC-WIRE-006"},
	{Name: "sends_images", Does: "sends an image to an agent that takes none", ToCheck: changes(is("session/prompt"), replace(`"type":"text",`, `"type":"image","data":"AA==","mimeType":"image/png",`)), Finds: "AKC-WIRE-007"},
	{Name: "cancels_elsewhere", Does: "cancels the turn of a session that it has not opened", ToCheck: follows(is("session/prompt"), `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"other"}}`), Finds: "AKC-WIRE-019"},
	{Name: "invalid_utf8", Does: "sends text that is not UTF-8", ToCheck: func(w *Wire, m *Message) {
		w.LineToCheck(bytes.Replace(m.encode(), []byte(`"Hello.`), []byte("\"Hello\xff"), 1))
	}, Finds: "AKC-WIRE-020"},
	{Name: "forgets_questions", Does: "does not answer what was pending when it cancels the turn", In: check.V1, ToCheck: drops(to(line(`"acptest":"open"`))), Finds: "AKC-PERM-011"},
	{Name: "answers_updates", Does: "responds to updates of sessions that it does not know", ToPeer: precedes(is("session/update", "acptest-unknown"), `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"No such session"}}`), Finds: "AKC-ORDER-003"},
	{Name: "stops_at_unknown_states", Does: "reads nothing after a state that it does not know", In: check.V2, ToPeer: stopsAt(line(`"state":"acptest_future"`)), Finds: "AKC-ORDER-002"},
	{Name: "decides_late", Does: "decides what was pending after it has cancelled the turn", In: check.V1, ToCheck: holds(to(line(`"acptest":"pending"`)), is("session/cancel")), Finds: "AKC-WIRE-008"},

	{Name: "empty_system_prompt", Does: "sends a system prompt without text", ToCheck: changes(is("session/new"), replace(`"cwd":`, `"systemPrompt":{"mode":"append","content":[]},"cwd":`)), Finds: "AKC-WIRE-015 AKC-WIRE-007"},
	{Name: "skills_anywhere", Does: "calls a skill in the middle of a prompt", In: check.V2, ToCheck: changes(is("session/prompt"), replace(`"prompt":[`, `"prompt":[{"type":"text","text":"Use"},{"type":"skill","name":"x"},`)), Finds: "AKC-WIRE-016 AKC-WIRE-007"},
	{Name: "forks_anywhere", Does: "forks a session at a cursor that was not told", ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","id":"fork-$N","method":"session/fork","params":{"sessionId":"s","cwd":"/w","cursorId":"none"}}`), Finds: "AKC-WIRE-017 AKC-WIRE-007"},
	{Name: "initializes_again", Does: "sends initialize again", In: check.V2, ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","id":"again-$N","method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`), Finds: "AKC-WIRE-018"},
	{Name: "unasked_values", Does: "sends values of options to an agent that does not take them", ToCheck: changes(is("session/new"), replace(`"cwd":`, `"configOptions":[{"configId":"model","type":"id","value":"x"}],"cwd":`)), Finds: "AKC-WIRE-007"},
	{Name: "unasked_directories", Does: "sends folders to an agent that takes one", ToCheck: changes(is("session/new"), replace(`"cwd":`, `"additionalDirectories":["/more"],"cwd":`)), Finds: "AKC-WIRE-007"},
	{Name: "loads_unadvertised", Does: "loads a session of an agent that cannot", In: check.V1, ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","id":"load-$N","method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}`), Finds: "AKC-WIRE-007"},
	{Name: "no_jsonrpc", Does: "sends responses of JSON-RPC 1.0", ToCheck: changes(responds("_acptest/ping", `"id":""`), func(m *Message) { m.Set("jsonrpc", `"1.0"`) }), Finds: "AKC-WIRE-001"},
	{Name: "other_code_for_methods", Does: "fails with another code than -32601 for unknown methods", ToCheck: changes(responds("acptest/unknown"), fails(-32600, "Invalid request")), Finds: "AKC-RPC-001"},
	{Name: "stops_at_unknown_content", Does: "reads nothing after content that it does not know", ToPeer: stopsAt(line(`"content":{"data":1,"type":"acptest"}`)), Finds: "AKC-ORDER-002"},
	{Name: "stops_at_links", Does: "reads nothing after a link in a message", ToPeer: stopsAt(is("session/update", `"resource_link"`)), Finds: "AKC-ORDER-007"},
	{Name: "takes_what_is_missing", Does: "writes a file without a text", In: check.V1, ToCheck: changes(func(w *Wire, m *Message) bool {
		return responds(writeFile)(w, m) && m.request != nil && !m.request.has(`"content"`)
	}, becomes("{}")), Finds: "AKC-RPC-021"},
	{Name: "drowns", Does: "reads nothing after 50 updates",
		ToPeer: stopsAt(func(w *Wire, _ *Message) bool { return w.sent(`"session/update"`) > 50 }),
		Finds:  "AKC-ORDER-001"},
	{Name: "stops_at_unknown_updates", Does: "reads nothing after an update that it does not know", ToPeer: stopsAt(line("acptest_future")), Finds: "AKC-ORDER-002"},
	{Name: "stops_at_unknown_sessions", Does: "reads nothing after an update of a session that it does not know", ToPeer: stopsAt(is("session/update", "acptest-unknown")), Finds: "AKC-ORDER-003"},
	{Name: "stops_at_early_updates", Does: "reads nothing after an update before the response to session/new", ToPeer: stopsAt(line("Before the session.")), Finds: "AKC-ORDER-004"},
	{Name: "stops_at_late_updates", Does: "hangs at an update after the end of the turn", ToPeer: stopsAt(line("end_turn")), Finds: "AKC-ORDER-005"},
	{Name: "needs_tool_call", Does: "reads nothing after an update of a tool call that it does not know", ToPeer: stopsAt(line("acptest-late")), Finds: "AKC-ORDER-006"},

	{Name: "takes_text_for_number", Does: "takes an id in quotes for the number", ToCheck: changes(responds("_acptest/ping", `"id":"7"`), func(m *Message) { m.Set("id", "7") }), Finds: "AKC-RPC-015 AKC-WIRE-004"},
	{Name: "mixes_up_ids", Does: "takes a request with the id of its prompt for the response", ToPeer: drops(func(w *Wire, m *Message) bool {
		return is("_acptest/ping")(w, m) && w.requests["false"+string(m.Object["id"])] != nil && w.requests["false"+string(m.Object["id"])].Method == "session/prompt"
	}), Finds: "AKC-RPC-016"},
	{Name: "ends_lines_at_unicode", Does: "takes U+2028 for the end of a line", ToPeer: drops(is("_acptest/ping").with("\u2028")), Finds: "AKC-RPC-017"},
	{Name: "answers_nonsense", Does: "allows what it cannot read", ToCheck: changes(to(line(`"options":"none"`)), option("acptest-1")), Finds: "AKC-RPC-018"},
	{Name: "sends_updates", Does: "sends what only agents send", ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":1}}}`), Finds: "AKC-WIRE-010"},
	{Name: "notes_new_sessions", Does: "sends a request as a notification", In: check.V1, ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","method":"session/list","params":{}}`), Finds: "AKC-WIRE-009"},
	{Name: "fractional_ids", Does: "uses fractions as ids", In: check.V2, ToCheck: follows(is("session/new"), `{"jsonrpc":"2.0","id":1.5,"method":"_acptest/ask","params":{}}`), Finds: "AKC-WIRE-011"},
	{Name: "wrong_titles", Does: "sends a title that is no text, where readers forgive it", In: check.V1, ToCheck: changes(is("initialize"), replace(`"clientCapabilities":{`, `"clientCapabilities":{"terminal":"yes","_":{},`)), Finds: "AKC-WIRE-013"},
	{Name: "own_words", Does: "sends a block of a kind of its own", In: check.V2, ToCheck: changes(is("session/prompt"), replace(`"prompt":[`, `"prompt":[{"type":"mood"},`)), Finds: "AKC-WIRE-014"},
	{Name: "asks_early", Does: "sends another request before initialize", In: check.V1, ToCheck: precedes(is("initialize"), `{"jsonrpc":"2.0","id":"early-$N","method":"_acptest/early","params":{}}`), Finds: "AKC-INIT-001"},
	{Name: "signs_in_without_terminal", Does: "signs in by a method that needs a terminal", In: check.V1, ToCheck: follows(func(w *Wire, m *Message) bool {
		return is("session/new")(w, m) && w.sent("acptest-terminal") > 0
	}, `{"jsonrpc":"2.0","id":"terminal","method":"authenticate","params":{"methodId":"acptest-terminal"}}`), Finds: "AKC-AUTH-002"},
	{Name: "answers_first_question", Does: "answers two questions by the options of the first", ToCheck: changes(to(line(`"acptest-8"`)), option("acptest-1")), Finds: "AKC-PERM-009"},
	{Name: "text_for_numbers", Does: "fills numbers of forms in as texts", In: check.V1, ToCheck: changes(responds("elicitation/create"), replace(`"count":4`, `"count":"4"`)), Finds: "AKC-ELIC-003"},
	{Name: "drops_byte_order_marks", Does: "reads a file without its byte order mark", In: check.V1, ToCheck: changes(responds(readFile), replace("\ufeff", "")), Finds: "AKC-READ-011"},
	{Name: "reads_line_feeds", Does: "reads the ends of lines as line feeds", In: check.V1, ToCheck: changes(responds(readFile), replace(`\r\n`, `\n`)), Finds: "AKC-READ-011"},
	{Name: "cuts_lines_at_form_feeds", Does: "takes a form feed for the end of a line", In: check.V1, Own: true, ToCheck: changes(responds(readFile), replace(`"two\r\n"`, `"b\u2028c"`)), Finds: "AKC-READ-012"},
	{Name: "limit_is_last", Does: "takes the limit for the number of the last line", In: check.V1, ToCheck: changes(to(line(readFile, `"limit":1,"line":2`)), becomes(`{"content":""}`)), Finds: "AKC-READ-012 v1:AKC-READ-013"},
	{Name: "reads_to_the_end", Does: "reads nothing behind the last line feed", In: check.V1, ToCheck: changes(responds(readFile), replace(`"two"`, `""`)), Finds: "AKC-READ-013"},
	{Name: "refuses_null_lines", Does: "refuses null as line and limit", In: check.V1, ToPeer: answersItself(is(readFile, `"line":null`), invalidParams), Finds: "AKC-READ-015"},
	{Name: "limit_0_is_none", Does: "reads all lines if the limit is 0", In: check.V1, ToPeer: changes(is(readFile), replace(`"limit":0`, `"limit":null`)), Finds: "AKC-READ-016"},
	{Name: "empty_files_have_lines", Does: "reads an empty file as a line", In: check.V1, ToCheck: changes(responds(readFile), replace(`"content":""`, `"content":"\n"`)), Finds: "AKC-READ-014 AKC-READ-003 AKC-READ-016"},
	{Name: "writes_line_feeds", Does: "writes the ends of lines as line feeds", In: check.V1, ToPeer: changes(line(writeFile), replace(`\r\n`, `\n`)), Finds: "AKC-WRITE-008"},
	{Name: "writes_twice", Does: "writes a second file beside the first", In: check.V1, ToPeer: func(w *Wire, m *Message) {
		if is(writeFile, `"text\n"`)(w, m) {
			var req struct{ Params struct{ Path string } }
			_ = json.Unmarshal(m.Raw, &req)                              // it is one, see is
			_ = os.WriteFile(req.Params.Path+".bak", []byte("x"), 0o600) // before the client responds
		}
		w.pass(m)
	}, Finds: "AKC-WRITE-009"},

	{Name: "invents_options", Does: "allows by an id that was not offered", ToCheck: changes(responds(permission), replace(`"acptest-1"`, `"yes"`)), Finds: "AKC-PERM-001 AKC-PERM-002 AKC-PERM-009"},
	{Name: "cancels_questions", Does: "answers all questions as cancelled", ToCheck: changes(responds(permission, `"result"`), becomes(`{"outcome":{"outcome":"cancelled"}}`)), Finds: "AKC-PERM-002"},
	{Name: "needs_content", Does: "fails questions about a tool call without content", ToPeer: answersItself(is(permission, `"content":null`), invalidParams), Finds: "AKC-PERM-010"},
	{Name: "takes_the_first_option", Does: "chooses the first option",
		ToCheck: chooses(func([]choice) int { return 0 }),
		Finds:   "AKC-PERM-003 AKC-PERM-005"},
	{Name: "chooses_by_name", Does: "chooses the option whose name says that it allows",
		ToCheck: chooses(func(all []choice) int {
			return slices.IndexFunc(all, func(c choice) bool { return strings.HasPrefix(c.Name, "Allow") })
		}),
		Finds: "AKC-PERM-004 AKC-PERM-005"},
	{Name: "allows_unknown_kinds", Does: "chooses an option of a kind that it does not know", ToCheck: changes(to(line(`"kind":"_acptest"`)), option("acptest-3")), Finds: "AKC-PERM-005"},
	{Name: "allows_in_unknown_sessions", Does: "allows what is asked in a session that does not exist", ToCheck: changes(to(line(permission, "acptest-unknown")), option("acptest-1")), Finds: "AKC-PERM-006"},
	{Name: "allows_after_cancel", Does: "allows what is asked after it has cancelled the turn", ToCheck: changes(responds(permission), replace(`"cancelled"`, `"selected","optionId":"acptest-1"`)), Finds: "AKC-PERM-007"},
	{Name: "refuses_other_subjects", Does: "fails questions whose subject it does not know", In: check.V2, ToPeer: answersItself(is(permission, `"type":"_acptest"`), invalidParams), Finds: "AKC-PERM-008"},
	{Name: "sends_empty_forms", Does: "accepts forms without filling them in", In: check.V1, ToCheck: changes(responds("elicitation/create", `"result"`), becomes(`{"action":"accept","content":{}}`)), Finds: "AKC-ELIC-001 v1:AKC-ELIC-003"},
	{Name: "accepts_any_mode", Does: "accepts modes of elicitation that do not exist", ToCheck: changes(responds("elicitation/create", `"error"`), becomes(`{"action":"accept"}`)), Finds: "AKC-ELIC-002 v2:AKC-SERVES-002"},

	{Name: "opens_any_url", Does: "accepts URLs, which it has not advertised", ToPeer: answersItself(is("elicitation/create", `"mode":"url"`), `"result":{"action":"accept"}`), Finds: "AKC-ELIC-002"},
	{Name: "unquotes_paths", Does: "decodes paths as those of URLs", In: check.V1, ToPeer: changes(line(`"fs/`), replace("a%20b", "a b")), Finds: "AKC-READ-017 AKC-WRITE-010"},
	{Name: "replaces_only", Does: "does not create files", In: check.V1, ToPeer: answersItself(is(writeFile, `/file"`, "ö"), `"error":{"code":-32002,"message":"Resource not found"}`), Finds: "AKC-WRITE-001"},
	{Name: "serves_no_writes", Does: "does not know fs/write_text_file, and advertises it", In: check.V1, ToPeer: answersItself(is(writeFile), `"error":{"code":-32601,"message":"Method not found"}`), Finds: "AKC-SERVES-001"},
	{Name: "serves_unadvertised", Does: "serves terminals that it does not advertise", ToCheck: changes(responds("terminal/create"), becomes(`{"terminalId":"t"}`)), Finds: "AKC-SERVES-002"},
	{Name: "reads_ascii", Does: "reads letters as question marks", In: check.V1, ToCheck: changes(responds(readFile), replace("ö", "?")), Finds: "AKC-READ-001"},
	{Name: "counts_lines_from_0", Does: "takes 0 for the first line", In: check.V1, ToPeer: changes(line(), replace(`"line":2`, `"line":3`)), Finds: "AKC-READ-002 v1:AKC-READ-012 v1:AKC-READ-013"},
	{Name: "reads_behind_the_end", Does: "reads the last lines if the file has fewer", In: check.V1, ToPeer: changes(line(), replace(`"line":99`, `"line":4`)), Finds: "AKC-READ-003"},
	{Name: "reads_missing_files", Does: "reads files that do not exist as empty", In: check.V1, ToCheck: changes(to(line(`/missing"`)), becomes(`{"content":""}`)), Finds: "AKC-READ-004"},
	{Name: "other_code_for_missing_files", Does: "fails with -32603 for a file that does not exist", In: check.V1, ToCheck: changes(to(line(`/missing"`)), fails(-32603, "Internal error")), Finds: "AKC-READ-005"},
	{Name: "reads_folders", Does: "reads folders as empty files", In: check.V1, ToCheck: changes(to(line(readFile, "acptest-folder")), becomes(`{"content":""}`)), Finds: "AKC-READ-007"},
	{Name: "cuts_large_files", Does: "reads the beginning of large files", In: check.V1, ToCheck: changes(to(line("acptest-large")), becomes(`{"content":"large\n"}`)), Finds: "AKC-READ-008"},
	{Name: "waits_for_pipes", Does: "reads named pipes, which nobody writes", In: check.V1, ToPeer: drops(line("acptest-pipe")), Finds: "AKC-READ-009"},
	{Name: "mixes_up_files", Does: "answers reads at the same time with the text of the first", In: check.V1, ToCheck: changes(to(line("acptest-many-")), becomes(`{"content":"file 0\n"}`)), Finds: "AKC-READ-010"},
	{Name: "writes_ascii", Does: "writes letters as question marks", In: check.V1, ToPeer: changes(line(), replace("ö", "?")), Finds: "AKC-WRITE-001"},
	{Name: "keeps_the_rest", Does: "writes over the beginning of a file", In: check.V1, ToPeer: changes(line(), replace(`"short\n"`, `"short\nhree\nfour\nfive\n"`)), Finds: "AKC-WRITE-002"},
	{Name: "claims_to_write", Does: "reports success for a write that has failed", In: check.V1, ToCheck: changes(to(line("acptest-absent")), becomes(`{}`)), Finds: "AKC-WRITE-003"},
	{Name: "writes_folders", Does: "reports success for writing a folder", In: check.V1, ToCheck: changes(to(line(writeFile, "acptest-folder")), becomes(`{}`)), Finds: "AKC-WRITE-006"},
	{Name: "reads_old_text", Does: "reads what a file had before it was written", In: check.V1, ToCheck: changes(to(line(readFile, "acptest-again")), becomes(`{"content":"old\n"}`)), Finds: "AKC-WRITE-007"},

	{Name: "reads_no_lines", Does: "refuses to read from a line on", In: check.V1, ToPeer: answersItself(is(readFile, `"line":`), invalidParams), Finds: "AKC-READ-002 AKC-READ-012 AKC-READ-013 AKC-READ-015"},
	{Name: "refuses_empty_files", Does: "takes an empty text for none", In: check.V1, ToCheck: changes(responds(readFile, `"content":""`), fails(-32603, "No text")), Finds: "AKC-READ-014"},
	{Name: "writes_no_empty_files", Does: "refuses to write an empty text", In: check.V1, ToPeer: answersItself(is(writeFile, `"content":""`), invalidParams), Finds: "AKC-WRITE-002"},
	{Name: "needs_params", Does: "does not answer requests without params", ToPeer: drops(is("acptest/unknown", `"id"`).without(`"params"`)), Finds: "AKC-RPC-001"},
	{Name: "answers_usage", Does: "responds to updates of a kind that it does not show", ToPeer: precedes(line(`"sessionUpdate":"usage_update"`), `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`), Finds: "AKC-ORDER-007"},
	{Name: "stops_at_null_id", Does: "reads nothing after a request with the id null", ToPeer: stopsAt(line(`"id":null,"method"`)), Finds: "AKC-RPC-009"},
	{Name: "stops_at_unknown_options", Does: "reads nothing after an option of a type that it does not know", ToPeer: stopsAt(line(`"config_option_update"`, `"type":"_acptest"`)), Finds: "AKC-ORDER-002"},
	{Name: "stops_at_unknown_priorities", Does: "reads nothing after a plan with a priority that it does not know", ToPeer: stopsAt(line(`"priority":"_acptest"`)), Finds: "AKC-ORDER-002"},
	{Name: "stops_at_unknown_kinds", Does: "reads nothing after a tool call of a kind that it does not know", ToPeer: stopsAt(line(`"tool_call_update"`, `"kind":"_acptest"`)), Finds: "AKC-ORDER-002"},
	{Name: "stops_at_unknown_notices", Does: "reads nothing after a notice of a severity that it does not know", In: check.V2, ToPeer: stopsAt(line(`"severity":"_acptest"`)), Finds: "AKC-ORDER-002"},
}

const (
	permission = "session/request_permission"
	readFile   = "fs/read_text_file"
	writeFile  = "fs/write_text_file"
)

// choice is an option of a permission request.
type choice struct{ OptionID, Name, Kind string }

// chooses returns a handler that changes which option the peer chooses. A negative index changes
// nothing.
func chooses(choose func(all []choice) int) handler {
	return changes(responds(permission, `"selected"`), func(m *Message) {
		var all []choice
		_ = json.Unmarshal(check.At(m.request.Object["params"], "options"), &all) // a check has written it
		if i := choose(all); i >= 0 {
			option(all[i].OptionID)(m)
		}
	})
}

// Terminals are the defects of clients that serve terminals.
var Terminals = []Defect{
	{Name: "creates_late", Does: "responds to terminal/create when the command has ended", ToPeer: drops(line("acptest-long")), Finds: "AKC-TERM-001"},
	{Name: "loses_exit_codes", Does: "reports 0 for every exit code", ToCheck: changes(responds("terminal/wait_for_exit"), replace(`"exitCode":3`, `"exitCode":0`)), Finds: "AKC-TERM-002"},
	{Name: "waits_alone", Does: "answers nothing while it waits for an exit",
		ToPeer: drops(func(w *Wire, m *Message) bool {
			return m.Method == "terminal/output" && slices.ContainsFunc(w.log, func(one *Message) bool {
				return one.Method == "terminal/wait_for_exit" && !one.answered
			})
		}),
		Finds: "AKC-TERM-003"},
	{Name: "kills_terminals", Does: "forgets a terminal whose command is killed", ToCheck: changes(responds("terminal/output").after("terminal/kill"), fails(-32002, "Unknown terminal")), Finds: "AKC-TERM-004 AKC-TERM-022"},
	{Name: "keeps_terminals", Does: "keeps terminals that are released", ToCheck: changes(responds("terminal/output").after("terminal/release"), becomes(`{"output":"out\n","truncated":false}`)), Finds: "AKC-TERM-007"},
	{Name: "knows_every_terminal", Does: "finds terminals that do not exist", ToCheck: changes(to(line(`"acptest-unknown"`, "terminal/kill")), becomes(`{}`)), Finds: "AKC-TERM-008"},
	{Name: "hides_truncation", Does: "does not mark output that is truncated", ToCheck: changes(responds("terminal/output"), replace(`"truncated":true`, `"truncated":false`)), Finds: "AKC-TERM-009"},
	{Name: "drops_variables", Does: "runs commands without the variables of the agent", ToPeer: changes(line(), replace("ACPTEST_VALUE\",", "OTHER\",")), Finds: "AKC-TERM-010"},
	{Name: "own_variables_win", Does: "prefers its own variables to those of the agent", ToPeer: changes(line(), replace(`"name":"HOME"`, `"name":"OTHER"`)), Finds: "AKC-TERM-010"},
	{Name: "forgets_cancelled_waits", Does: "does not answer a wait after $/cancel_request", ToCheck: drops(func(w *Wire, m *Message) bool {
		return responds("terminal/wait_for_exit")(w, m) && w.sent(`"requestId":`+string(m.Object["id"])) > 0
	}), Finds: "AKC-TERM-023"},
	{Name: "forgets_waits", Does: "does not answer a wait whose terminal is released", ToCheck: drops(func(w *Wire, m *Message) bool {
		i := slices.Index(w.log, m.request)
		return responds("terminal/wait_for_exit")(w, m) && i >= 0 && slices.ContainsFunc(w.log[i:], func(one *Message) bool { return one.Method == "terminal/release" })
	}), Finds: "AKC-TERM-026"},
	{Name: "fails_at_bytes", Does: "fails to show output that is not UTF-8", ToCheck: changes(responds("terminal/output", "\ufffd"), fails(-32603, "Internal error")), Finds: "AKC-TERM-027"},
	{Name: "truncates_early", Does: "marks output as truncated that is as long as its limit", ToCheck: changes(responds("terminal/output", `"12345"`), replace(`"truncated":false`, `"truncated":true`)), Finds: "AKC-TERM-028"},
	{Name: "fills_pipes", Does: "reads the output of a command when it has ended", ToCheck: drops(responds("terminal/wait_for_exit").after("4000")), Finds: "AKC-TERM-029"},
	{Name: "expands_arguments", Does: "gives arguments to a shell", ToPeer: changes(line(), replace(`"$HOME"`, `"/home/me"`)), Finds: "AKC-TERM-011"},
	{Name: "runs_missing_commands", Does: "reports success for a command that does not exist", ToPeer: changes(line(), replace(`"acptest-missing"`, `"true"`)), Finds: "AKC-TERM-012"},
	{Name: "hides_signals", Does: "reports the exit code 0 for a command that a signal has ended", ToCheck: changes(responds("terminal/wait_for_exit", `"signal"`), becomes(`{"exitCode":0}`)), Finds: "AKC-TERM-013"},
	{Name: "replaces_variables", Does: "runs commands with the variables of the agent alone", ToPeer: changes(line(`"ACPTEST_VALUE"`, "PATH|"), replace(`"env":[`, `"env":[{"name":"HOME","value":""},`)), Finds: "AKC-TERM-016"},
	{Name: "no_exit_status", Does: "shows no exit status with the output", ToCheck: changes(responds("terminal/output"), replace(`"exitStatus"`, `"_exitStatus"`)), Finds: "AKC-TERM-017"},
	{Name: "early_exit_status", Does: "shows an exit status while the command runs", ToCheck: changes(responds("terminal/output").without("exitStatus"), replace(`"truncated":false`, `"truncated":false,"exitStatus":{}`)), Finds: "AKC-TERM-018"},
	{Name: "one_wait", Does: "answers one wait for the exit of a command", ToPeer: drops(func(w *Wire, m *Message) bool {
		return m.Method == "terminal/wait_for_exit" && slices.ContainsFunc(w.log, func(one *Message) bool { return one.Method == "terminal/wait_for_exit" && !one.answered })
	}), Finds: "AKC-TERM-019"},
	{Name: "runs_at_root", Does: "runs commands without a folder in that of the system", ToCheck: changes(responds("terminal/output").after("pwd -P"), replace(`"output":"/`, `"output":"/other/`)), Finds: "AKC-TERM-020"},
	{Name: "refuses_null", Does: "refuses null for optional params of commands", ToPeer: answersItself(line("terminal/create", `"outputByteLimit":null`), invalidParams), Finds: "AKC-TERM-024"},
	{Name: "splits_characters", Does: "decodes the output read by read", ToCheck: changes(responds("terminal/output"), replace("acptest-ö", "acptest-\ufffd\ufffd")), Finds: "AKC-TERM-025"},
	{Name: "mixes_up_output", Does: "shows the output of another terminal", ToCheck: changes(responds("terminal/output"), replace("terminal 2", "terminal 3")), Finds: "AKC-TERM-021"},
	{Name: "kill_clears", Does: "forgets the output of a command that is killed after its end", ToCheck: changes(responds("terminal/output", `"exitStatus"`).after("terminal/kill"), replace(`"output":"out\n"`, `"output":""`)), Finds: "AKC-TERM-022"},
	{Name: "runs_in_unknown_sessions", Does: "runs commands in sessions that do not exist", ToCheck: changes(to(line("terminal/create", `"acptest-unknown"`)), becomes(`{"terminalId":"t"}`)), Finds: "AKC-TERM-015"},
}
