package defect

import (
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// stops returns a maker that changes the stop reason of turns.
func stops(f match, old, new string) maker {
	return toCheck(func(w *Wire, m *Message) {
		if (m.Response && m.Method == "session/prompt" || m.Method == "session/update" && m.has(`"idle"`)) && f(w, m) {
			replace(`"stopReason":"`+old+`"`, `"stopReason":"`+new+`"`)(m)
		}
		w.ToCheck(m)
	})
}

// ended selects what ends a turn with a stop reason.
func ended(reason string) match {
	return func(_ *Wire, m *Message) bool {
		return m.has(`"stopReason":"` + reason + `"`)
	}
}

// thought is an update that comes too late.
var thought = update(`"sessionUpdate":"agent_thought_chunk","messageId":"late","content":{"type":"text","text":"late"}`)

// lateTo returns a maker that sends an update behind the end of a turn.
func lateTo(reason string) maker {
	return toCheck(func(w *Wire, m *Message) {
		w.ToCheck(m)
		if ended(reason)(w, m) {
			for _, p := range w.log {
				if p.Method == "session/prompt" {
					w.LineToCheck([]byte(strings.Replace(thought, `"$S"`, string(check.At(p.Object["params"], "sessionId")), 1)))
					return
				}
			}
		}
	})
}

// refusesBlock returns a defect of an agent that takes no block of a type.
func refusesBlock(kind, id string) Defect {
	return Defect{Name: "refuses_" + kind, Does: "takes no block of the type " + kind,
		New: answersItself(is("session/prompt", `"type":"`+kind+`"`), invalidParams), Finds: found(id, "")}
}

var ofTurns = []Defect{
	{Name: "update_after_response", Does: "sends an update after the end of the turn",
		New:   lateTo("end_turn"),
		Finds: found("v1:AK-ORDER-001 v2:AK-ORDER-003", "")},
	{Name: "update_after_cancel", Does: "sends an update after the end of a cancelled turn",
		New:   lateTo("cancelled"),
		Finds: found("v1:AK-ORDER-001 ACP-CANCEL-002", "")},
	{Name: "open_tool_calls", Does: "leaves tool calls open", In: check.V1,
		New:   drops(func(_ *Wire, m *Message) bool { return m.has(`"completed"`) }),
		Finds: found("AK-TOOL-001", "")},
	{Name: "reorders", Does: "exchanges pieces of a text", Own: true,
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			var held *Message
			return nil, func(m *Message) {
				if m.has(`"10\n"`) {
					held = m
					return
				}
				w.ToCheck(m)
				if held != nil {
					w.ToCheck(held)
					held = nil
				}
			}
		},
		Finds: found("AK-ORDER-002", "")},
	{Name: "own_stop_reason", Does: "ends the first turn with a stop reason of its own", Own: true,
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return stops(func(w *Wire, _ *Message) bool { return w.sent(`"session/prompt"`) == 1 && w.sent("#stream") == 0 }, "end_turn", "done")(w)
		},
		Finds: found("ACP-PROMPT-001 v1:ACP-SCHEMA-001 AK-CANCEL-004 AK-FILE-001 AK-FILE-002 AK-FILE-003 AK-FILE-004 AK-PERM-001 AK-SIZE-001 AK-TERMINAL-004", "")},
	{Name: "says_nothing", Does: "does not show what it says",
		New:   drops(is("session/update", `"agent_message`)),
		Finds: found("AK-PROMPT-003", "AK-LOAD-004 AK-CANCEL-002 AK-ORDER-002")},
	{Name: "one_turn", Does: "has one turn in a session",
		New:   ignores(is("session/prompt", "#text").after("#text").first("session/close")),
		Finds: found("AK-PROMPT-001 ACP-PATCH-203 AK-INSERT-001", "")},
	{Name: "deaf_while_working", Does: "loses prompts that come while a turn runs", In: check.V1,
		New:   ignores(is("session/prompt", "#text").after("#slow").first("session/cancel")),
		Finds: found("AK-PROMPT-002 AK-SESSION-002", "")},
	refusesBlock("resource_link", "ACP-PROMPT-003"),
	refusesBlock("image", "ACP-PROMPTCAP-001"),
	refusesBlock("audio", "ACP-PROMPTCAP-002"),
	refusesBlock("resource", "ACP-PROMPTCAP-003"),
	{Name: "empty_prompts", Does: "takes prompts without content", In: check.V2,
		New:   answersItself(is("session/prompt", `"prompt":[]`), `"result":{"messageId":"m"}`),
		Finds: found("AK-PROMPT-004", "")},
	{Name: "cancel_wrong_stop_reason", Does: "ends a cancelled turn with end_turn, and prompts that wait with an internal error",
		New: toCheck(func(w *Wire, m *Message) {
			if responds("session/prompt", "-32800").after("session/cancel")(w, m) {
				m.fails(-32603, "Internal error")
			}
			replace(`"stopReason":"cancelled"`, `"stopReason":"end_turn"`)(m)
			w.ToCheck(m)
		}),
		Finds: found("ACP-CANCEL-001 ACP-CLOSE-002 AK-CANCEL-001 AK-CANCEL-003 AK-INSERT-002 AK-PERM-006", "")},
	{Name: "cancel_returns_error", Does: "fails a turn that is cancelled while permission is asked for", In: check.V1, Own: true,
		New:   changes(responds("session/prompt", `"cancelled"`).after("#ask"), func(m *Message) { m.fails(-32603, "Internal error") }),
		Finds: found("AK-CANCEL-009 AK-PERM-006", "")},
	{Name: "forgets_early_cancel", Does: "does not cancel a turn that has just begun",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			starting := false
			return func(m *Message) {
				switch {
				case m.Method == "session/prompt" && w.in(m, "#slow"):
					starting = true
					time.AfterFunc(50*time.Millisecond, func() { // ends at once
						w.mu.Lock()
						defer w.mu.Unlock()
						starting = false
						w.ToPeer(m)
					})
				case m.Method != "session/cancel" || !starting:
					w.ToPeer(m)
				}
			}, nil
		},
		Finds: found("AK-CANCEL-001", "")},
	{Name: "hangs_until_cancel", Does: "does not end a turn that is cancelled while it sends text",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			cancelled, streaming := false, false
			return func(m *Message) {
					cancelled = cancelled || m.Method == "session/cancel"
					streaming = streaming || w.in(m, "#stream")
					w.ToPeer(m)
				}, func(m *Message) {
					if !streaming || !m.has(`"stopReason"`) {
						w.ToCheck(m)
						return
					}
					time.AfterFunc(50*time.Millisecond, func() { // ends at once
						w.mu.Lock()
						defer w.mu.Unlock()
						if !cancelled {
							w.ToCheck(m)
						}
					})
				}
		},
		Finds: found("AK-CANCEL-002", "")},
	{Name: "dies_at_second_cancel", Does: "reads nothing after a second cancel",
		New:   dies(is("session/cancel").after("session/cancel")),
		Finds: found("AK-CANCEL-003", "")},
	{Name: "remembers_cancel", Does: "cancels the first turn when a cancel came before it",
		New: stops(func(w *Wire, _ *Message) bool {
			return len(w.log) > 2 && w.log[2].Method == "session/cancel"
		}, "end_turn", "cancelled"),
		Finds: found("AK-CANCEL-004", "")},
	{Name: "no_turn_after_cancel", Does: "has no turns after one that was cancelled",
		New:   answersItself(is("session/prompt", "#text").after("session/cancel").after("#slow"), `"error":{"code":-32800,"message":"Request cancelled"}`),
		Finds: found("AK-CANCEL-005 v2:AK-CANCEL-007", "")},
	{Name: "dies_at_unknown_session", Does: "reads nothing after a cancel of an unknown session",
		New:   dies(is("session/cancel", nobody)),
		Finds: found("AK-CANCEL-006", "")},
}

// option returns a function that makes a response to a permission request choose an option.
func option(id string) func(m *Message) {
	return func(m *Message) { becomes(`{"outcome":{"outcome":"selected","optionId":"` + id + `"}}`)(m) }
}

// chosen selects responses to permission requests.
func chosen(text string) match { return responds("session/request_permission", text) }

var ofPermission = []Defect{
	{Name: "no_reject", Does: "offers no option to reject",
		New:   changes(is("session/request_permission"), replace(`"kind":"reject_`, `"kind":"allow_`)),
		Finds: found("ACP-PERM-201", "")},
	{Name: "hangs_after_permission", Does: "does not go on after permission was given", Own: true,
		New:   ignores(chosen(`"allow_once"`)),
		Finds: found("AK-PERM-001", "")},
	{Name: "ignores_reject", Does: "runs tool calls that were rejected", Own: true,
		New:   tells(chosen(`"reject_once"`), option("allow_once")),
		Finds: found("AK-PERM-002", "")},
	{Name: "ignores_cancelled_question", Does: "runs tool calls whose question was cancelled", Own: true,
		New:   tells(chosen(`"cancelled"`), option("allow_once")),
		Finds: found("AK-PERM-003", "")},
	{Name: "ignores_failed_question", Does: "runs tool calls whose question has failed", Own: true,
		New:   tells(chosen(`"error"`), option("allow_once")),
		Finds: found("AK-PERM-004", "")},
	{Name: "any_option_allows", Does: "runs tool calls for options that it has not offered", Own: true,
		New:   tells(chosen(`"acptest-no-such-option"`), option("allow_once")),
		Finds: found("AK-PERM-005", "")},
	{Name: "cancelled_question_ends_turn", Does: "ends a turn with end_turn that is cancelled while permission is asked for",
		New:   stops(func(w *Wire, _ *Message) bool { return w.sent("#ask") > 0 }, "cancelled", "end_turn"),
		Finds: found("AK-PERM-006", "")},
	{Name: "uses_late_permission", Does: "runs a tool call of a turn that was cancelled", Own: true,
		New: func(w *Wire) (to, from func(*Message)) {
			done := ""
			return func(m *Message) {
					w.log = append(w.log, m)
					w.ToPeer(m)
					if chosen(`"allow_once"`).after("session/cancel")(w, m) {
						w.LineToCheck([]byte(done))
					}
				}, func(m *Message) {
					if params := (check.Message{Method: m.Method, Params: m.Object["params"]}); m.Method == "session/request_permission" {
						id := params.Text("toolCall", "toolCallId") + params.Text("subject", "toolCall", "toolCallId")
						done = strings.Replace(update(`"sessionUpdate":"tool_call_update","toolCallId":"`+id+`","status":"completed"`), "$S", params.Text("sessionId"), 1)
					}
					w.ToCheck(m)
				}
		},
		Finds: found("AK-PERM-007", "")},
}

var ofClientSide = []Defect{
	{Name: "reads_relative", Does: "reads files by relative paths", In: check.V1,
		New:   changes(is("fs/read_text_file"), replace(`"path":"/`, `"path":"`)),
		Finds: found("AK-FILE-001 AK-FILE-002", "")},
	{Name: "writes_relative", Does: "writes files by relative paths", In: check.V1,
		New:   changes(is("fs/write_text_file"), replace(`"path":"/`, `"path":"`)),
		Finds: found("AK-FILE-003 AK-FILE-004", "")},
	{Name: "fails_with_client", Does: "fails a turn when the client fails", In: check.V1,
		New: changes(func(w *Wire, m *Message) bool {
			return m.Response && m.Method == "session/prompt" && m.has("end_turn") && w.sent(`"error":{"code"`) > 0 && w.sent("#ask") == 0
		}, func(m *Message) { m.fails(-32603, "Internal error") }),
		Finds: found("AK-FILE-002 AK-FILE-004 AK-TERMINAL-004", "")},
	{Name: "ignores_capabilities", Does: "uses files and terminals that the client does not have", In: check.V1,
		New:   tells(is("initialize"), replace(`"clientCapabilities":{}`, `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`)),
		Finds: found("ACP-CLIENTCAP-001 AK-FILE-005 ACP-CLIENTCAP-002 AK-CAPABILITY-001", "")},
	{Name: "keeps_terminals", Does: "does not release terminals", In: check.V1,
		New: toCheck(func(w *Wire, m *Message) {
			if m.Method != "terminal/release" || m.Response {
				w.ToCheck(m)
				return
			}
			w.ToPeer(&Message{Raw: []byte(`{"jsonrpc":"2.0","id":` + string(m.Object["id"]) + `,"result":{}}`)})
		}),
		Finds: found("AK-TERMINAL-001 AK-TERMINAL-002 AK-TERMINAL-003", "")},
}
