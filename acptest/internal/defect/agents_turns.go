package defect

import (
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// stops returns a maker that changes the stop reason of turns.
func stops(f match, old, new string) handler {
	return changes(func(w *Wire, m *Message) bool {
		return (responds("session/prompt")(w, m) || is("session/update", `"idle"`)(w, m)) && f(w, m)
	}, replace(`"stopReason":"`+old+`"`, `"stopReason":"`+new+`"`))
}

// thought is an update that comes too late.
var thought = update(`"sessionUpdate":"agent_thought_chunk","messageId":"late-$N","content":{"type":"text","text":"late"}`)

// refusesBlock returns a defect of an agent that takes no block of a type.
func refusesBlock(kind, id string) Defect {
	return Defect{Name: "refuses_" + kind, Does: "takes no block of the type " + kind,
		ToPeer: answersItself(is("session/prompt", `"type":"`+kind+`"`), invalidParams), Finds: id}
}

var ofTurns = []Defect{
	{Name: "update_after_response", Does: "sends an update after the end of the turn", ToCheck: follows(line(`"stopReason":"end_turn"`), thought), Finds: "v1:AK-ORDER-001 v2:AK-ORDER-003"},
	{Name: "update_after_cancel", Does: "sends an update after the end of a cancelled turn", ToCheck: follows(line(`"stopReason":"cancelled"`), thought), Finds: "ACP-CANCEL-002"},
	{Name: "tool_ids_again", Does: "gives all tool calls the same id", In: check.V1, ToCheck: changes(line(`"toolCallId":"`), func(m *Message) {
		replace(`"toolCallId":"`+m.toolCall()+`"`, `"toolCallId":"call"`)(m)
	}), Finds: "AK-TOOL-003"},
	{Name: "tool_calls_twice", Does: "creates each tool call twice", In: check.V1, ToCheck: func(w *Wire, m *Message) {
		doubles(func(w *Wire, m *Message) bool { return line(`"sessionUpdate":"tool_call"`)(w, m) && !inHistory()(w, m) })(w, m)
	}, Finds: "AK-TOOL-004"},
	{Name: "ends_tool_calls_twice", Does: "says that a tool call has failed after it has completed", ToCheck: func(w *Wire, m *Message) {
		w.pass(m)
		if is("session/update", `"status":"completed"`)(w, m) {
			w.add(line(), m, update(`"sessionUpdate":"tool_call_update","toolCallId":"`+m.toolCall()+`","status":"failed"`))
		}
	}, Finds: "AK-TOOL-004"},
	{Name: "one_message", Does: "says everything in one message of a session", Own: true, ToCheck: changes(is("session/update", `"agent_message`), func(m *Message) {
		replace(`"messageId":`+string(check.At(m.Object["params"], "update", "messageId")), `"messageId":"m"`)(m)
	}), Finds: "AK-MESSAGE-002 v2:AK-LOAD-005"},
	{Name: "open_tool_calls", Does: "leaves tool calls open", In: check.V1, ToCheck: drops(func(w *Wire, m *Message) bool { return m.has(`"completed"`) && !inHistory()(w, m) }), Finds: "AK-TOOL-001"},
	{Name: "new_message_ids", Does: "gives each piece of an answer another message id", ToCheck: func(w *Wire, m *Message) {
		if is("session/update", `"agent_message_chunk"`).after("#stream")(w, m) {
			w.held = append(w.held, m)
			replace(`"messageId":"`, fmt.Sprintf(`"messageId":"%d-`, len(w.held)))(m)
		}
		w.pass(m)
	}, Finds: "AK-MESSAGE-001"},
	{Name: "fails_after_cancel_request", Does: "fails a turn that is cancelled, after a cancel of its request", In: check.V1, ToCheck: changes(responds("session/prompt", `"cancelled"`).after("$/cancel_request"), fails(-32603, "Internal error")), Finds: "AK-CANCEL-009"},
	{Name: "fails_cancelled_turns", Does: "fails turns that are cancelled, with an error", In: check.V1, ToCheck: changes(responds("session/prompt", `"cancelled"`), fails(-32603, "Internal error")), Finds: "ACP-CANCEL-001 AK-CANCEL-001 AK-CANCEL-003 AK-PERM-006 ACP-CLOSE-002"},
	{Name: "reorders", Does: "exchanges pieces of a text", Own: true, ToCheck: holds(line(`"10\n"`), line()), Finds: "AK-ORDER-002 AK-LOAD-005"},
	{Name: "own_stop_reason", Does: "ends the first turn with a stop reason of its own", Own: true,
		ToCheck: stops(func(w *Wire, _ *Message) bool { return w.sent(`"session/prompt"`) == 1 && w.sent("#stream") == 0 }, "end_turn", "done"),
		Finds:   "ACP-PROMPT-001"},
	{Name: "says_nothing", Does: "does not show what it says", ToCheck: drops(is("session/update", `"agent_message`)), Finds: "AK-PROMPT-003"},
	{Name: "one_turn", Does: "has one turn in a session", ToPeer: drops(is("session/prompt", "#text").after("#text").first("session/close")), Finds: "AK-PROMPT-001 ACP-PATCH-203 AK-INSERT-001 AK-SIZE-001"},
	{Name: "deaf_while_working", Does: "loses prompts that come while a turn runs", In: check.V1, ToPeer: drops(is("session/prompt", "#text").after("#slow").first("session/cancel")), Finds: "AK-PROMPT-002 AK-SESSION-002"},
	refusesBlock("resource_link", "ACP-PROMPT-003"),
	refusesBlock("image", "ACP-PROMPTCAP-001"),
	refusesBlock("audio", "ACP-PROMPTCAP-002"),
	refusesBlock("resource", "ACP-PROMPTCAP-003"),
	{Name: "empty_prompts", Does: "takes prompts without content", In: check.V2, ToPeer: answersItself(is("session/prompt", `"prompt":[]`), `"result":{"messageId":"m"}`), Finds: "AK-PROMPT-004"},
	{Name: "cancel_wrong_stop_reason", Does: "ends a cancelled turn with end_turn, and prompts that wait with an internal error",
		ToCheck: func(w *Wire, m *Message) {
			if responds("session/prompt", "-32800").after("session/cancel")(w, m) {
				fails(-32603, "Internal error")(m)
			}
			replace(`"stopReason":"cancelled"`, `"stopReason":"end_turn"`)(m)
			w.pass(m)
		},
		Finds: "ACP-CANCEL-001 ACP-CLOSE-002 AK-CANCEL-001 AK-CANCEL-003 AK-INSERT-002 AK-PERM-006"},
	{Name: "cancel_returns_error", Does: "fails a turn that is cancelled while permission is asked for", In: check.V1, Own: true, ToCheck: changes(responds("session/prompt", `"cancelled"`).after("#ask"), fails(-32603, "Internal error")), Finds: "AK-PERM-006"},
	{Name: "forgets_early_cancel", Does: "does not cancel a turn that has just begun",
		ToPeer: func(w *Wire, m *Message) {
			switch {
			case is("session/prompt", "#slow")(w, m):
				w.held = []*Message{m}
				w.later(func() {
					w.held = nil
					w.pass(m)
				})
			case m.Method != "session/cancel" || w.held == nil:
				w.pass(m)
			}
		},
		Finds: "AK-CANCEL-001"},
	{Name: "hangs_until_cancel", Does: "does not end a turn that is cancelled while it sends text",
		ToCheck: func(w *Wire, m *Message) {
			if !line(`"stopReason"`).after("#stream")(w, m) {
				w.pass(m)
				return
			}
			w.later(func() {
				if w.sent("session/cancel") == 0 {
					w.pass(m)
				}
			})
		},
		Finds: "AK-CANCEL-002"},
	{Name: "dies_at_second_cancel", Does: "reads nothing after a second cancel", ToPeer: dies(is("session/cancel").after("session/cancel")), Finds: "AK-CANCEL-003"},
	{Name: "remembers_cancel", Does: "cancels the first turn when a cancel came before it",
		ToCheck: stops(func(w *Wire, _ *Message) bool {
			first := slices.IndexFunc(w.log, func(m *Message) bool { return m.Method == "session/cancel" || m.Method == "session/prompt" })
			return first >= 0 && w.log[first].Method == "session/cancel"
		}, "end_turn", "cancelled"),
		Finds: "AK-CANCEL-004"},
	{Name: "no_turn_after_cancel", Does: "has no turns after one that was cancelled", ToPeer: answersItself(is("session/prompt", "#text").after("session/cancel").after("#slow"), `"error":{"code":-32800,"message":"Request cancelled"}`), Finds: "AK-CANCEL-005 v2:AK-CANCEL-007"},
	{Name: "dies_at_unknown_session", Does: "reads nothing after a cancel of an unknown session", ToPeer: dies(is("session/cancel", nobody)), Finds: "AK-CANCEL-006"},
}

// option returns a function that makes a response to a permission request choose an option.
func option(id string) func(m *Message) {
	return func(m *Message) { becomes(`{"outcome":{"outcome":"selected","optionId":"` + id + `"}}`)(m) }
}

// chosen selects responses to permission requests.
func chosen(text string) match { return responds("session/request_permission", text) }

var ofPermission = []Defect{
	{Name: "no_reject", Does: "offers no option to reject", ToCheck: changes(is("session/request_permission"), replace(`"kind":"reject_`, `"kind":"allow_`)), Finds: "ACP-PERM-201"},
	{Name: "hangs_after_permission", Does: "does not go on after permission was given", Own: true, ToPeer: drops(chosen(`"allow_once"`)), Finds: "AK-PERM-001 AK-PERM-009 AK-PERM-010"},
	{Name: "ignores_reject", Does: "runs tool calls that were rejected", Own: true, ToPeer: changes(chosen(`"reject_once"`), option("allow_once")), Finds: "AK-PERM-002 AK-PERM-009"},
	{Name: "ignores_cancelled_question", Does: "runs tool calls whose question was cancelled", Own: true, ToPeer: changes(chosen(`"cancelled"`), option("allow_once")), Finds: "AK-PERM-003 AK-PERM-010"},
	{Name: "ignores_failed_question", Does: "runs tool calls whose question has failed", Own: true, ToPeer: changes(chosen(`"error"`), option("allow_once")), Finds: "AK-PERM-004"},
	{Name: "reads_option_alone", Does: "runs tool calls whose question was cancelled, if the answer has an option", Own: true, ToPeer: changes(chosen(`"outcome":"cancelled"`).with(`"optionId"`), option("allow_once")), Finds: "AK-PERM-010"},
	{Name: "any_option_allows", Does: "runs tool calls for options that it has not offered", Own: true, ToPeer: changes(chosen(`"acptest-no-such-option"`), option("allow_once")), Finds: "AK-PERM-005"},
	{Name: "mixes_up_answers", Does: "takes the answer to the question of one session for that of another", Own: true,
		ToPeer: changes(chosen(`"reject_once"`).after(`"allow_once"`), option("allow_once")), Finds: "AK-PERM-009"},
	{Name: "cancelled_question_ends_turn", Does: "ends a turn with end_turn that is cancelled while permission is asked for",
		ToCheck: stops(func(w *Wire, _ *Message) bool { return w.sent("#ask") > 0 }, "cancelled", "end_turn"),
		Finds:   "AK-PERM-006"},
	{Name: "uses_late_permission", Does: "runs a tool call of a turn that was cancelled", Own: true,
		ToPeer: func(w *Wire, m *Message) {
			w.pass(m)
			if chosen(`"allow_once"`).after("session/cancel")(w, m) {
				asked := check.Message{Params: m.request.Object["params"], Method: m.Method}
				id := asked.Text("toolCall", "toolCallId") + asked.Text("subject", "toolCall", "toolCallId")
				w.add(line(), m, update(`"sessionUpdate":"tool_call_update","toolCallId":"`+id+`","status":"completed"`))
			}
		},
		Finds: "AK-PERM-007"},
}

var ofClientSide = []Defect{
	{Name: "reads_relative", Does: "reads files by relative paths", In: check.V1, ToCheck: changes(is("fs/read_text_file"), replace(`"path":"/`, `"path":"`)), Finds: "AK-FILE-001 v1:AK-FILE-002"},
	{Name: "writes_relative", Does: "writes files by relative paths", In: check.V1, ToCheck: changes(is("fs/write_text_file"), replace(`"path":"/`, `"path":"`)), Finds: "AK-FILE-003 v1:AK-FILE-004"},
	{Name: "fails_with_client", Does: "fails a turn when the client fails", In: check.V1, ToCheck: changes(responds("session/prompt", "end_turn").after(`"error":{"code"`).first("#ask"), fails(-32603, "Internal error")), Finds: "AK-FILE-002 AK-FILE-004 AK-TERMINAL-004"},
	{Name: "ignores_capabilities", Does: "uses files and terminals that the client does not have", In: check.V1, ToPeer: changes(is("initialize"), replace(`"clientCapabilities":{}`, `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`)), Finds: "ACP-CLIENTCAP-001 AK-FILE-005 ACP-CLIENTCAP-002"},
	{Name: "one_capability_for_files", Does: "reads and writes files of a client that has one of both", In: check.V1, ToPeer: changes(is("initialize"), func(m *Message) {
		replace(`"readTextFile":false,"writeTextFile":true`, `"readTextFile":true,"writeTextFile":true`)(m)
		replace(`"readTextFile":true,"writeTextFile":false`, `"readTextFile":true,"writeTextFile":true`)(m)
	}), Finds: "ACP-CLIENTCAP-001 AK-FILE-005"},
	{Name: "writes_in_any_case", Does: "writes a file though permission was refused", In: check.V1, ToCheck: precedes(is("fs/write_text_file"),
		`{"jsonrpc":"2.0","id":"ask-$N","method":"session/request_permission","params":{"sessionId":"$S","toolCall":{"toolCallId":"w","status":"failed"},"options":[{"optionId":"a","name":"A","kind":"allow_once"},{"optionId":"r","name":"R","kind":"reject_once"}]}}`), Finds: "AK-FILE-006"},
	{Name: "unknown_terminals", Does: "asks for terminals that it has not created", In: check.V1, ToCheck: follows(is("fs/read_text_file"), `{"jsonrpc":"2.0","id":"none-$N","method":"terminal/output","params":{"sessionId":"$S","terminalId":"none"}}`), Finds: "AK-TERMINAL-005"},
	{Name: "asks_late", Does: "asks for permission when the turn has ended", In: check.V1, ToCheck: follows(responds("session/prompt", `"end_turn"`), `{"jsonrpc":"2.0","id":"late-$N","method":"session/request_permission","params":{"sessionId":"$S","toolCall":{"toolCallId":"late"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`), Finds: "AK-ORDER-001"},
	{Name: "keeps_terminals", Does: "does not release terminals", In: check.V1,
		ToCheck: func(w *Wire, m *Message) {
			if is("terminal/release")(w, m) {
				w.ToPeer(&Message{Raw: []byte(`{"jsonrpc":"2.0","id":` + string(m.Object["id"]) + `,"result":{}}`)})
				return
			}
			w.pass(m)
		},
		Finds: "AK-TERMINAL-001 AK-TERMINAL-002 AK-TERMINAL-003"},
}
