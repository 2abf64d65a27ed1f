package defect

import (
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// opens selects the request that opens a session again: with its history or without.
func opens(history bool) match {
	return func(_ *Wire, m *Message) bool {
		return m.Method == "session/load" && history || m.Method == "session/resume" && m.has("replayFrom") == history
	}
}

// replayed selects the messages of a history.
func replayed(_ *Wire, m *Message) bool {
	return m.Method == "session/update" && (m.has(`"user_message`) || m.has(`"agent_`))
}

// opening returns a maker whose function handles the messages of the peer between a request that
// opens a session again and its response.
func opening(history bool, f func(w *Wire, m *Message)) maker {
	return toCheck(func(w *Wire, m *Message) {
		if n := len(w.log); n > 0 && opens(history)(w, w.log[n-1]) {
			f(w, m)
		} else {
			w.ToCheck(m)
		}
	})
}

// needSession are the checks that need a session.
const needSession = `ACP-CANCEL-001 ACP-CLIENTCAP-001 AK-FILE-005 ACP-CLIENTCAP-002 ACP-CLOSE-001 ACP-CLOSE-002 ACP-CONFIG-001
ACP-CONFIG-002 AK-CONFIG-002 AK-CONFIG-003 ACP-DELETE-202 ACP-ENUM-201 AK-LIST-001 AK-LIST-002 ACP-LIST-002 AK-LOAD-004
ACP-LOAD-002 ACP-MODES-001 ACP-MODES-002 AK-MODES-001 ACP-PATCH-203 ACP-PATCH-208 ACP-PATCH-209 ACP-PERM-201 ACP-PROMPT-001
AK-PROMPT-003 ACP-PROMPT-201 ACP-PROMPT-203 ACP-PROMPTCAP-001 ACP-PROMPTCAP-002 ACP-PROMPTCAP-003 ACP-RESUME-002 AK-RESUME-004
ACP-RESUME-204 ACP-RESUME-205 ACP-SESSION-002 ACP-STATE-201 ACP-TRANSPORT-002 AK-CANCEL-001 AK-CANCEL-002 AK-CANCEL-003 AK-CANCEL-004
AK-CANCEL-005 AK-CANCEL-007 AK-CANCEL-008 AK-CLOSE-003 AK-COMMAND-001 AK-CONFIG-001 AK-FILE-001 AK-FILE-002 AK-FILE-003 AK-FILE-004
AK-ID-005 AK-INIT-005 AK-INSERT-001 AK-INSERT-002 AK-LOAD-001 AK-LOAD-002 AK-ORDER-002 AK-ORDER-003 ACP-CANCEL-002 AK-PERM-001
AK-PERM-002 AK-PERM-003 AK-PERM-004 AK-PERM-005 AK-PERM-006 AK-PERM-007 AK-PERM-008 AK-PROMPT-001 AK-PROMPT-002 ACP-PROMPT-003
AK-PROMPT-004 AK-RESUME-003 AK-RPC-009 AK-SESSION-002 AK-SESSION-003 AK-SIZE-001 AK-START-001 AK-START-002 AK-STATE-001
AK-TERMINAL-001 AK-TERMINAL-002 AK-TERMINAL-003 AK-TERMINAL-004`

var ofSessions = []Defect{
	{Name: "no_session_id", Does: "starts sessions without an id",
		New:   changes(responds("session/new"), func(m *Message) { delete(m.Object, "result"); m.Set("result", `{"sessionId":""}`) }),
		Finds: found("ACP-SESSION-001 ACP-PROMPT-002 ACP-SCHEMA-001", needSession)},
	{Name: "duplicate_session_id", Does: "gives two sessions the same id",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			id := ""
			return changes(responds("session/new"), func(m *Message) {
				own := (&check.Message{Result: m.Object["result"]}).Text("sessionId")
				if id == "" {
					id = own
				}
				replace(own, id)(m)
			})(w)
		},
		Finds: found("ACP-SESSION-002 ACP-PROMPT-002 AK-SESSION-002", "AK-SESSION-003")},
	{Name: "wants_mcp_servers", Does: "starts no session without mcpServers", In: check.V2,
		New: answersItself(func(_ *Wire, m *Message) bool {
			return m.Method == "session/new" && !m.Response && !m.has("mcpServers")
		}, invalidParams),
		Finds: found("ACP-SESSION-203", "")},
	{Name: "refuses_directories", Does: "starts no session with additional directories",
		New:   answersItself(is("session/new", "additionalDirectories"), internalError),
		Finds: found("ACP-ADDDIRS-001", "")},
	{Name: "prompts_without_session", Does: "takes prompts for sessions that do not exist",
		New:   answersItself(is("session/prompt", nobody), `"result":{"stopReason":"end_turn","messageId":"m"}`),
		Finds: found("AK-SESSION-001", "")},
	{Name: "session_internal_error", Does: "fails with an internal error for sessions that do not exist",
		New:   answersItself(is("session/prompt", nobody), internalError),
		Finds: found("AK-SESSION-001", "")},
	{Name: "one_turn_for_all", Does: "runs the turns of all sessions one after the other",
		New: ignores(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && w.sent(`"session/new"`) > 1 && w.sent(`"session/cancel"`) == 0 && w.sent("#slow") > 0
		}),
		Finds: found("AK-SESSION-002", "AK-SESSION-003")},
	{Name: "cancels_all_sessions", Does: "cancels the turns of all sessions",
		New: toPeer(func(w *Wire, m *Message) {
			if m.Method == "session/cancel" {
				for _, p := range w.log {
					if p.Method == "session/prompt" {
						w.ToPeer(&Message{Raw: []byte(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + string(check.At(p.Object["params"], "sessionId")) + `}}`)})
					}
				}
			}
			w.ToPeer(m)
		}),
		Finds: found("AK-SESSION-003", "")},
	{Name: "empty_list", Does: "lists no sessions",
		New:   changes(responds("session/list", `"sessions"`), becomes(`{"sessions":[]}`)),
		Finds: found("AK-LIST-001", "")},
	{Name: "endless_list", Does: "ends no list",
		New: func(w *Wire) (to, from func(*Message)) {
			to, _ = tells(is("session/list", `"again"`), replace(`"cursor"`, `"_cursor"`))(w)
			return to, func(m *Message) {
				if m.Response && m.Method == "session/list" {
					replace(`"sessions":`, `"nextCursor":"again","sessions":`)(m)
				}
				w.ToCheck(m)
			}
		},
		Finds: found("AK-LIST-002", "AK-LIST-001 ACP-DELETE-202 AK-LOAD-002")},
	{Name: "lists_all_folders", Does: "lists the sessions of all folders",
		New:   tells(is("session/list"), func(m *Message) { m.Set("params", strings.Replace(string(m.Object["params"]), `"cwd"`, `"_cwd"`, 1)) }),
		Finds: found("ACP-LIST-002", "")},
	{Name: "any_cursor", Does: "takes any cursor",
		New:   changes(responds("session/list", `"error"`), becomes(`{"sessions":[]}`)),
		Finds: found("AK-LIST-003", "")},
	{Name: "keeps_deleted", Does: "lists sessions that were deleted",
		New:   answersItself(is("session/delete"), empty),
		Finds: found("ACP-DELETE-202", "")},
	{Name: "delete_fails", Does: "fails to delete what does not exist",
		New:   answersItself(is("session/delete", nobody), internalError),
		Finds: found("ACP-DELETE-002", "")},
	{Name: "load_doubles", Does: "replays what it has said twice", Own: true,
		New: opening(true, func(w *Wire, m *Message) {
			w.ToCheck(m)
			if m.has(`"agent_message`) {
				replace(`"messageId":"`, `"messageId":"second-`)(m)
				w.ToCheck(m)
			}
		}),
		Finds: found("AK-LOAD-004", "")},
	{Name: "load_replays_after_response", Does: "replays the history after the response",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			var held []*Message
			return opening(true, func(w *Wire, m *Message) {
				if replayed(w, m) {
					held = append(held, m)
					return
				}
				w.ToCheck(m)
				for m.Response && len(held) > 0 {
					w.ToCheck(held[0])
					held = held[1:]
				}
			})(w)
		},
		Finds: found("AK-LOAD-004 ACP-LOAD-002 v1:AK-ORDER-001 v2:ACP-RESUME-204", "")},
	{Name: "loads_unknown", Does: "loads sessions that do not exist",
		New: answersItself(func(w *Wire, m *Message) bool { return opens(true)(w, m) && m.has(nobody) }, empty), Finds: found("AK-LOAD-003", "")},
	{Name: "no_turn_after_load", Does: "has no turns in sessions that were loaded",
		New: answersItself(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && (w.sent("session/load") > 0 || w.sent("replayFrom") > 0)
		}, internalError),
		Finds: found("AK-LOAD-001", "")},
	{Name: "loads_own_only", Does: "loads only sessions of the same connection",
		New: answersItself(func(w *Wire, m *Message) bool {
			return opens(true)(w, m) && w.sent("session/new") == 0 && !m.has(nobody)
		}, internalError),
		Finds: found("AK-LOAD-002", "")},
	{Name: "resume_replays", Does: "sends the history to clients that resume",
		New: opening(false, func(w *Wire, m *Message) {
			if m.Response {
				id := string(check.At(w.log[len(w.log)-1].Object["params"], "sessionId"))
				w.LineToCheck([]byte(strings.Replace(update(`"sessionUpdate":"agent_message_chunk","messageId":"old","content":{"type":"text","text":"old"}`), `"$S"`, id, 1)))
			}
			w.ToCheck(m)
		}),
		Finds: found("ACP-RESUME-002", "")},
	{Name: "no_turn_after_resume", Does: "has no turns in sessions that were resumed",
		New: answersItself(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && w.sent("session/resume") > 0 && w.sent("replayFrom") == 0
		}, internalError),
		Finds: found("AK-RESUME-004", "")},
	{Name: "resumes_unknown", Does: "resumes sessions that do not exist",
		New: answersItself(func(w *Wire, m *Message) bool { return opens(false)(w, m) && m.has(nobody) }, empty), Finds: found("AK-RESUME-002", "")},
	{Name: "resumes_stateless", Does: "does not report the state of a session that was resumed", In: check.V2,
		New: toCheck(func(w *Wire, m *Message) {
			if n := len(w.log); n == 0 || w.log[n-1].Method != "session/resume" || !m.has("state_update") {
				w.ToCheck(m)
			}
		}),
		Finds: found("AK-RESUME-001", "")},
	{Name: "changes_ids", Does: "gives the messages of the history other ids", In: check.V2,
		New: opening(true, func(w *Wire, m *Message) {
			replace(`"messageId":"`, `"messageId":"new-`)(m)
			w.ToCheck(m)
		}),
		Finds: found("ACP-RESUME-204", "")},
	{Name: "replays_chunks_only", Does: "replays chunks without their messages", In: check.V2,
		New: opening(true, func(w *Wire, m *Message) {
			if m.has(`"agent_message"`) {
				replace(`"agent_message"`, `"agent_message_chunk"`)(m)
				replace(`"content":[{`, `"content":{`)(m)
				replace(`}]`, `}`)(m)
			}
			w.ToCheck(m)
		}),
		Finds: found("ACP-RESUME-205", "")},
	{Name: "resumes_anywhere", Does: "takes any place to replay from", In: check.V2,
		New:   answersItself(is("session/resume", "_acptest"), empty),
		Finds: found("AK-RESUME-003", "")},
	{Name: "close_fails", Does: "fails to close sessions without a turn",
		New:   answersItself(is("session/close").first(`"session/prompt"`), internalError),
		Finds: found("ACP-CLOSE-001 AK-CLOSE-002", "AK-CLOSE-003")},
	{Name: "close_ends_turn", Does: "ends a turn with end_turn when its session is closed",
		New:   stops(func(w *Wire, _ *Message) bool { return w.sent("session/close") > 0 }, "cancelled", "end_turn"),
		Finds: found("ACP-CLOSE-002", "")},
	{Name: "close_unknown_fails", Does: "fails to close what does not exist",
		New:   answersItself(is("session/close", nobody), internalError),
		Finds: found("AK-CLOSE-002", "")},
	{Name: "prompts_after_close", Does: "takes prompts for sessions that were closed",
		New:   answersItself(is("session/prompt", `"hello"`).after("session/close"), `"result":{"stopReason":"end_turn","messageId":"m"}`),
		Finds: found("AK-CLOSE-003", "")},
	{Name: "updates_after_close", Does: "sends updates for sessions that were closed", In: check.V2,
		New: toCheck(func(w *Wire, m *Message) {
			w.ToCheck(m)
			if m.Response && m.Method == "session/close" && m.has(`"result"`) {
				id := string(check.At(w.log[len(w.log)-1].Object["params"], "sessionId"))
				w.LineToCheck([]byte(strings.Replace(update(`"sessionUpdate":"usage_update","used":1,"size":1`), `"$S"`, id, 1)))
			}
		}),
		Finds: found("AK-CLOSE-001", "")},
}
