package defect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// Clients are the defects of clients that are visible on the wire.
var Clients = []Defect{
	{Name: "begins_without_initialize", Does: "sends no initialize",
		New:   drops(func(_ *Wire, m *Message) bool { return m.Method == "initialize" }),
		Finds: map[string]check.Verdict{"AKC-INIT-001": fail, "*": inc}},
	{Name: "accepts_any_version", Does: "goes on with an agent of a version that it does not speak",
		New:   tells(responds("initialize"), replace(`"protocolVersion":65535`, `"protocolVersion":1`)),
		Finds: map[string]check.Verdict{"AKC-INIT-002": fail}},
	{Name: "ignores_refusal", Does: "goes on when initialize has failed",
		New:   tells(responds("initialize", `"error"`), becomes(`{"protocolVersion":1,"agentCapabilities":{}}`)),
		Finds: map[string]check.Verdict{"AKC-INIT-003": fail}},
	{Name: "stops_at_unknown_capability", Does: "reads nothing after a capability that it does not know",
		New: stopsAt(has("acptestCapability")), Finds: map[string]check.Verdict{"AKC-INIT-004": fail}},
	{Name: "relative_folder", Does: "opens its session in a relative folder",
		New: changes(is("session/new"), func(m *Message) { m.Set("params", `{"cwd":"work","mcpServers":[]}`) }),
		Finds: map[string]check.Verdict{"AKC-SESSION-001": fail, "AKC-WIRE-002": fail,
			"AKC-SERVES-*": inc, "AKC-READ-*": inc, "AKC-WRITE-*": inc, "AKC-OUTSIDE-*": inc}},
	{Name: "prompts_without_session", Does: "sends a prompt though session/new has failed",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return func(m *Message) {
				if m.Response && m.Method == "session/new" && m.Object["error"] != nil {
					w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":900,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Hello."}]}}`))
				}
				w.ToPeer(m)
			}, nil
		},
		Finds: map[string]check.Verdict{"AKC-SESSION-002": fail}},
	{Name: "lowers_session_ids", Does: "writes the ids of sessions in lower case",
		New:   changes(is("session/prompt"), replace("Acp/test", "acp/test")),
		Finds: map[string]check.Verdict{"AKC-SESSION-003": fail}},
	{Name: "signs_in_by_guess", Does: "signs in by a method that is not offered", In: check.V1,
		New:   changes(is("authenticate"), replace("acptest-login", "oauth")),
		Finds: map[string]check.Verdict{"AKC-AUTH-001": fail}},

	{Name: "knows_every_method", Does: "responds to unknown methods with a result",
		New:   changes(responds("acptest/unknown"), becomes("{}")),
		Finds: map[string]check.Verdict{"AKC-RPC-001": fail}},
	{Name: "answers_notifications", Does: "responds to notifications",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return func(m *Message) {
				if m.Object["id"] == nil && m.Method == "acptest/unknown" {
					w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`))
				}
				w.ToPeer(m)
			}, nil
		},
		Finds: map[string]check.Verdict{"AKC-RPC-002": fail}},
	{Name: "empty_id_is_none", Does: "takes an empty string for no id",
		New: changes(responds("_acptest/ping"), func(m *Message) {
			if string(m.Object["id"]) == `""` {
				m.Set("id", "null")
			}
		}),
		Finds: map[string]check.Verdict{"AKC-RPC-003": fail}},
	{Name: "rounds_ids", Does: "reads ids as floating point numbers",
		New: changes(responds("_acptest/ping"), func(m *Message) {
			if string(m.Object["id"]) == "9223372036854775807" {
				m.Set("id", "9223372036854775808")
			}
		}),
		Finds: map[string]check.Verdict{"AKC-RPC-004": fail}},
	{Name: "answers_twice", Does: "sends its responses twice",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return nil, func(m *Message) {
				w.ToCheck(m)
				if m.Response && m.Method == "_acptest/ping" {
					w.ToCheck(m)
				}
			}
		},
		Finds: map[string]check.Verdict{"AKC-RPC-005": fail, "AKC-WIRE-004": fail}},
	{Name: "waits_for_its_own_request", Does: "answers nothing before session/new is answered",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return func(m *Message) {
				if m.Method != "_acptest/ping" || w.methods["new"] != "" {
					w.ToPeer(m)
				}
				if m.Response && m.Method == "session/new" {
					w.methods["new"] = m.Method
				}
			}, nil
		},
		Finds: map[string]check.Verdict{"AKC-RPC-006": fail}},
	{Name: "refuses_unknown_members", Does: "fails requests with members that it does not know",
		New: refuses(-32602, has("acptestMember")), Finds: map[string]check.Verdict{"AKC-RPC-007": fail}},
	{Name: "stops_at_unknown_response", Does: "reads nothing after a response to no request",
		New:   stopsAt(func(m *Message) bool { return m.Response && has(`"id":"acptest-unknown"`)(m) }),
		Finds: map[string]check.Verdict{"AKC-RPC-008": fail}},
	{Name: "stops_at_bad_json", Does: "reads nothing after a line that is not JSON",
		New:   stopsAt(func(m *Message) bool { return !json.Valid(m.Raw) }),
		Finds: map[string]check.Verdict{"AKC-RPC-009": fail, "AKC-RPC-010": fail}},
	{Name: "stops_at_empty_lines", Does: "reads nothing after an empty line",
		New:   stopsAt(func(m *Message) bool { return strings.HasPrefix(string(m.Raw), "\r\n") }),
		Finds: map[string]check.Verdict{"AKC-RPC-011": fail}},
	{Name: "stops_at_batches", Does: "reads nothing after an array",
		New: stopsAt(has(`[{"jsonrpc"`)), Finds: map[string]check.Verdict{"AKC-RPC-012": fail}},
	{Name: "reads_short_lines", Does: "reads nothing after a line of more than 64 KiB",
		New:   stopsAt(func(m *Message) bool { return len(m.Raw) > 64<<10 }),
		Finds: map[string]check.Verdict{"AKC-RPC-013": fail}},
	{Name: "stops_at_failed_prompt", Does: "hangs when a prompt fails", In: check.V1,
		New:   stopsAt(func(m *Message) bool { return m.Method == "session/prompt" && m.Object["error"] != nil }),
		Finds: map[string]check.Verdict{"AKC-RPC-014": fail}},

	{Name: "prints_a_banner", Does: "writes a line that is no message",
		New: follows(is("session/new"), "Connected."), Finds: map[string]check.Verdict{"AKC-WIRE-001": fail}},
	{Name: "invalid_prompts", Does: "sends prompts whose text has another name",
		New: changes(is("session/prompt"), replace(`"text":"`, `"words":"`)), Finds: map[string]check.Verdict{"AKC-WIRE-002": fail}},
	{Name: "answers_unasked", Does: "sends a response to no request",
		New:   follows(is("session/new"), `{"jsonrpc":"2.0","id":"unasked","result":{}}`),
		Finds: map[string]check.Verdict{"AKC-WIRE-003": fail}},
	{Name: "uses_ids_twice", Does: "sends its prompts twice", In: check.V1, // in version 2 the first may be answered before
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return nil, func(m *Message) {
				w.ToCheck(m)
				if m.Method == "session/prompt" {
					w.ToCheck(m)
				}
			}
		},
		Finds: map[string]check.Verdict{"AKC-WIRE-005": fail}},
	{Name: "invents_methods", Does: "sends a notification of a method that does not exist",
		New:   follows(is("session/new"), `{"jsonrpc":"2.0","method":"session/greet","params":{}}`),
		Finds: map[string]check.Verdict{"AKC-WIRE-006": fail}},
	{Name: "sends_images", Does: "sends an image to an agent that takes none",
		New:   changes(is("session/prompt"), replace(`"type":"text",`, `"type":"image","data":"AA==","mimeType":"image/png",`)),
		Finds: map[string]check.Verdict{"AKC-WIRE-007": fail}},
	{Name: "decides_late", Does: "decides what was pending after it has cancelled the turn", In: check.V1,
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			id, held := "", (*Message)(nil)
			return func(m *Message) {
					if has(`"acptest":"pending"`)(m) {
						id = string(m.Object["id"])
					}
					w.ToPeer(m)
				}, func(m *Message) {
					if m.Response && id != "" && string(m.Object["id"]) == id {
						held = m
						return
					}
					w.ToCheck(m)
					if m.Method == "session/cancel" && held != nil {
						w.ToCheck(held)
					}
				}
		},
		Finds: map[string]check.Verdict{"AKC-WIRE-008": fail}},

	{Name: "drowns", Does: "reads nothing after 50 updates",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			n := 0
			return stopsAt(func(m *Message) bool {
				if m.Method == "session/update" {
					n++
				}
				return n > 50
			})(w)
		},
		Finds: map[string]check.Verdict{"AKC-ORDER-001": fail}},
	{Name: "stops_at_unknown_updates", Does: "reads nothing after an update that it does not know",
		New: stopsAt(has("acptest_future")), Finds: map[string]check.Verdict{"AKC-ORDER-002": fail}},
	{Name: "stops_at_unknown_sessions", Does: "reads nothing after an update of a session that it does not know",
		New:   stopsAt(func(m *Message) bool { return m.Method == "session/update" && has("acptest-unknown")(m) }),
		Finds: map[string]check.Verdict{"AKC-ORDER-003": fail}},
	{Name: "stops_at_early_updates", Does: "reads nothing after an update before the response to session/new",
		New: stopsAt(has("Before the session.")), Finds: map[string]check.Verdict{"AKC-ORDER-004": fail}},
	{Name: "stops_at_late_updates", Does: "hangs at an update after the end of the turn",
		New: stopsAt(has("end_turn")), Finds: map[string]check.Verdict{"AKC-ORDER-005": fail}},
	{Name: "needs_tool_call", Does: "reads nothing after an update of a tool call that it does not know",
		New: stopsAt(has("acptest-late")), Finds: map[string]check.Verdict{"AKC-ORDER-006": fail}},

	{Name: "invents_options", Does: "allows by an id that was not offered",
		New: changes(responds(permission), replace(`"acptest-1"`, `"yes"`)),
		Finds: map[string]check.Verdict{"AKC-PERM-001": fail, "AKC-PERM-002": fail,
			"AKC-PERM-003": inc, "AKC-PERM-004": inc, "AKC-PERM-006": inc}},
	{Name: "cancels_questions", Does: "answers all questions as cancelled",
		New: changes(responds(permission), func(m *Message) {
			if m.Object["result"] != nil {
				m.Set("result", `{"outcome":{"outcome":"cancelled"}}`)
			}
		}),
		Finds: map[string]check.Verdict{"AKC-PERM-002": fail, "AKC-PERM-003": inc, "AKC-PERM-004": inc, "AKC-PERM-006": inc}},
	{Name: "takes_the_first_option", Does: "chooses the first option",
		New:   chooses(func([]choice) int { return 0 }),
		Finds: map[string]check.Verdict{"AKC-PERM-003": fail, "AKC-PERM-005": fail}},
	{Name: "chooses_by_name", Does: "chooses the option whose name says that it allows",
		New: chooses(func(all []choice) int {
			return slices.IndexFunc(all, func(c choice) bool { return strings.HasPrefix(c.Name, "Allow") })
		}),
		Finds: map[string]check.Verdict{"AKC-PERM-004": fail, "AKC-PERM-005": fail}},
	{Name: "allows_unknown_kinds", Does: "chooses an option of a kind that it does not know",
		New:   replies(has(`"kind":"_acptest"`), option("acptest-3")),
		Finds: map[string]check.Verdict{"AKC-PERM-005": fail}},
	{Name: "allows_in_unknown_sessions", Does: "allows what is asked in a session that does not exist",
		New:   replies(has(permission, "acptest-unknown"), option("acptest-1")),
		Finds: map[string]check.Verdict{"AKC-PERM-006": fail}},
	{Name: "allows_after_cancel", Does: "allows what is asked after it has cancelled the turn",
		New:   changes(responds(permission), replace(`"cancelled"`, `"selected","optionId":"acptest-1"`)),
		Finds: map[string]check.Verdict{"AKC-PERM-007": fail}},
	{Name: "refuses_other_subjects", Does: "fails questions whose subject it does not know", In: check.V2,
		New: refuses(-32602, has(`"type":"_acptest"`)), Finds: map[string]check.Verdict{"AKC-PERM-008": fail}},
	{Name: "sends_empty_forms", Does: "accepts forms without filling them in", In: check.V1,
		New: changes(responds("elicitation/create"), func(m *Message) {
			if m.Object["result"] != nil {
				m.Set("result", `{"action":"accept","content":{}}`)
			}
		}),
		Finds: map[string]check.Verdict{"AKC-ELIC-001": fail}},
	{Name: "accepts_any_mode", Does: "accepts modes of elicitation that do not exist",
		New: changes(responds("elicitation/create"), func(m *Message) {
			if m.Object["error"] != nil {
				becomes(`{"action":"accept"}`)(m)
			}
		}),
		Finds: map[string]check.Verdict{"AKC-ELIC-002": fail, "v2 AKC-SERVES-002": fail}},

	{Name: "serves_no_writes", Does: "does not know fs/write_text_file, and advertises it", In: check.V1,
		New: refuses(-32601, has(writeFile)),
		Finds: map[string]check.Verdict{"AKC-SERVES-001": fail, "AKC-WRITE-001": inc, "AKC-WRITE-002": inc, "AKC-WRITE-004": inc,
			"AKC-WRITE-005": inc, "AKC-WRITE-007": inc, "AKC-OUTSIDE-007": inc, "AKC-OUTSIDE-008": inc, "AKC-OUTSIDE-009": inc, "AKC-OUTSIDE-010": inc}},
	{Name: "serves_unadvertised", Does: "serves terminals that it does not advertise",
		New:   changes(responds("terminal/create"), becomes(`{"terminalId":"t"}`)),
		Finds: map[string]check.Verdict{"AKC-SERVES-002": fail}},
	{Name: "reads_ascii", Does: "reads letters as question marks", In: check.V1,
		New: changes(responds(readFile), replace("ö", "?")), Finds: map[string]check.Verdict{"AKC-READ-001": fail}},
	{Name: "counts_lines_from_0", Does: "takes 0 for the first line", In: check.V1,
		New: hears(replace(`"line":2`, `"line":3`)), Finds: map[string]check.Verdict{"AKC-READ-002": fail}},
	{Name: "reads_behind_the_end", Does: "reads the last lines if the file has fewer", In: check.V1,
		New: hears(replace(`"line":99`, `"line":4`)), Finds: map[string]check.Verdict{"AKC-READ-003": fail}},
	{Name: "reads_missing_files", Does: "reads files that do not exist as empty", In: check.V1,
		New:   replies(has(`/missing"`), becomes(`{"content":""}`)),
		Finds: map[string]check.Verdict{"AKC-READ-004": fail, "AKC-READ-005": inc}},
	{Name: "other_code_for_missing_files", Does: "fails with -32603 for a file that does not exist", In: check.V1,
		New:   replies(has(`/missing"`), func(m *Message) { m.fails(-32603, "Internal error") }),
		Finds: map[string]check.Verdict{"AKC-READ-005": fail}},
	{Name: "reads_folders", Does: "reads folders as empty files", In: check.V1,
		New:   replies(has(readFile, "acptest-folder"), becomes(`{"content":""}`)),
		Finds: map[string]check.Verdict{"AKC-READ-007": fail}},
	{Name: "cuts_large_files", Does: "reads the beginning of large files", In: check.V1,
		New: replies(has("acptest-large"), becomes(`{"content":"large\n"}`)), Finds: map[string]check.Verdict{"AKC-READ-008": fail}},
	{Name: "waits_for_pipes", Does: "reads named pipes, which nobody writes", In: check.V1,
		New:   ignores(line("acptest-pipe")),
		Finds: map[string]check.Verdict{"AKC-READ-009": fail}},
	{Name: "mixes_up_files", Does: "answers reads at the same time with the text of the first", In: check.V1,
		New:   replies(has("acptest-many-"), becomes(`{"content":"file 0\n"}`)),
		Finds: map[string]check.Verdict{"AKC-READ-010": fail}},
	{Name: "writes_ascii", Does: "writes letters as question marks", In: check.V1,
		New: hears(replace("ö", "?")), Finds: map[string]check.Verdict{"AKC-WRITE-001": fail}},
	{Name: "keeps_the_rest", Does: "writes over the beginning of a file", In: check.V1,
		New: hears(replace(`"short\n"`, `"short\nhree\nfour\nfive\n"`)), Finds: map[string]check.Verdict{"AKC-WRITE-002": fail}},
	{Name: "claims_to_write", Does: "reports success for a write that has failed", In: check.V1,
		New: replies(has("acptest-absent"), becomes(`{}`)), Finds: map[string]check.Verdict{"AKC-WRITE-003": fail}},
	{Name: "writes_folders", Does: "reports success for writing a folder", In: check.V1,
		New:   replies(has(writeFile, "acptest-folder"), becomes(`{}`)),
		Finds: map[string]check.Verdict{"AKC-WRITE-006": fail}},
	{Name: "reads_old_text", Does: "reads what a file had before it was written", In: check.V1,
		New:   replies(has(readFile, "acptest-again"), becomes(`{"content":"old\n"}`)),
		Finds: map[string]check.Verdict{"AKC-WRITE-007": fail}},
}

const (
	permission = "session/request_permission"
	readFile   = "fs/read_text_file"
	writeFile  = "fs/write_text_file"
)

// choice is an option of a permission request.
type choice struct{ OptionID, Name, Kind string }

// chooses returns a maker that changes which option the peer chooses. A negative index changes
// nothing.
func chooses(choose func(all []choice) int) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		offered := map[string][]choice{}
		return func(m *Message) {
				if m.Method == permission {
					var all []choice
					_ = json.Unmarshal(check.At(m.Object["params"], "options"), &all) // a check has written it
					offered[string(m.Object["id"])] = all
				}
				w.ToPeer(m)
			}, func(m *Message) {
				all := offered[string(m.Object["id"])]
				if m.Response && m.Method == permission && strings.Contains(string(m.Object["result"]), `"selected"`) {
					if i := choose(all); i >= 0 {
						option(all[i].OptionID)(m)
					}
				}
				w.ToCheck(m)
			}
	}
}

// replies returns a maker that changes the peer's responses to the requests that match accepts.
func replies(match func(*Message) bool, change func(m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		ids := map[string]bool{}
		return func(m *Message) {
				if !m.Response && m.Object["id"] != nil && match(m) {
					ids[string(m.Object["id"])] = true
				}
				w.ToPeer(m)
			}, func(m *Message) {
				if m.Response && ids[string(m.Object["id"])] {
					change(m)
				}
				w.ToCheck(m)
			}
	}
}

// refuses returns a maker whose peer fails the requests that match accepts.
func refuses(code int, match func(*Message) bool) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return func(m *Message) {
			if m.Response || m.Object["id"] == nil || !match(m) {
				w.ToPeer(m)
				return
			}
			m.fails(code, "Refused")
			delete(m.Object, "method")
			delete(m.Object, "params")
			w.ToCheck(m)
		}, nil
	}
}
