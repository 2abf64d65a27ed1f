package defect

import "github.com/acpkit/go-sdk/acptest/internal/check"

// opens selects the request that opens a session again: with its history or without.
func opens(history bool) match {
	return func(_ *Wire, m *Message) bool {
		return !m.Response && (m.Method == "session/load" && history || m.Method == "session/resume" && m.has("replayFrom") == history)
	}
}

// replayed selects the messages of a history, which contain all of the texts.
func replayed(texts ...string) match {
	return func(w *Wire, m *Message) bool {
		n := len(w.log)
		return n > 0 && opens(true)(w, w.log[n-1]) && m.Method == "session/update" && m.has(texts...) && (m.has(`"user_message`) || m.has(`"agent_`))
	}
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
		ToCheck: changes(responds("session/new", `"result"`), becomes(`{"sessionId":""}`)),
		Finds:   "ACP-SESSION-001 ACP-PROMPT-002 ACP-SCHEMA-001",
		Spoils:  needSession},
	{Name: "duplicate_session_id", Does: "gives two sessions the same id",
		ToCheck: func(w *Wire, m *Message) {
			if responds("session/new", `"result"`)(w, m) {
				w.held = append(w.held, m)
				replace(m.session(), w.held[0].session())(m)
			}
			w.pass(m)
		},
		Finds:  "ACP-SESSION-002 ACP-PROMPT-002 AK-SESSION-002",
		Spoils: "AK-SESSION-003"},
	{Name: "wants_mcp_servers", Does: "starts no session without mcpServers", In: check.V2,
		ToPeer: answersItself(is("session/new").without("mcpServers"), invalidParams),
		Finds:  "ACP-SESSION-203"},
	{Name: "refuses_directories", Does: "starts no session with additional directories",
		ToPeer: answersItself(is("session/new", "additionalDirectories"), internalError),
		Finds:  "ACP-ADDDIRS-001"},
	{Name: "prompts_without_session", Does: "takes prompts for sessions that do not exist",
		ToPeer: answersItself(is("session/prompt", nobody), `"result":{"stopReason":"end_turn","messageId":"m"}`),
		Finds:  "AK-SESSION-001"},
	{Name: "session_internal_error", Does: "fails with an internal error for sessions that do not exist",
		ToPeer: answersItself(is("session/prompt", nobody), internalError),
		Finds:  "AK-SESSION-001"},
	{Name: "one_turn_for_all", Does: "runs the turns of all sessions one after the other",
		ToPeer: drops(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && w.sent(`"session/new"`) > 1 && w.sent(`"session/cancel"`) == 0 && w.sent("#slow") > 0
		}),
		Finds:  "AK-SESSION-002",
		Spoils: "AK-SESSION-003"},
	{Name: "cancels_all_sessions", Does: "cancels the turns of all sessions",
		ToPeer: func(w *Wire, m *Message) {
			for _, p := range w.log {
				if m.Method == "session/cancel" && p.Method == "session/prompt" {
					w.ToPeer(&Message{Raw: []byte(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + p.session() + `"}}`)})
				}
			}
			w.pass(m)
		},
		Finds: "AK-SESSION-003"},
	{Name: "empty_list", Does: "lists no sessions",
		ToCheck: changes(responds("session/list", `"sessions"`), becomes(`{"sessions":[]}`)),
		Finds:   "AK-LIST-001"},
	{Name: "endless_list", Does: "ends no list",
		ToPeer:  changes(is("session/list", `"again"`), replace(`"cursor"`, `"_cursor"`)),
		ToCheck: changes(responds("session/list"), replace(`"sessions":`, `"nextCursor":"again","sessions":`)),
		Finds:   "AK-LIST-002",
		Spoils:  "AK-LIST-001 ACP-DELETE-202 AK-LOAD-002"},
	{Name: "lists_all_folders", Does: "lists the sessions of all folders",
		ToPeer: changes(is("session/list"), replace(`"cwd"`, `"_cwd"`)),
		Finds:  "ACP-LIST-002"},
	{Name: "any_cursor", Does: "takes any cursor",
		ToCheck: changes(responds("session/list", `"error"`), becomes(`{"sessions":[]}`)),
		Finds:   "AK-LIST-003"},
	{Name: "keeps_deleted", Does: "lists sessions that were deleted",
		ToPeer: answersItself(is("session/delete"), empty),
		Finds:  "ACP-DELETE-202"},
	{Name: "delete_fails", Does: "fails to delete what does not exist",
		ToPeer: answersItself(is("session/delete", nobody), internalError),
		Finds:  "ACP-DELETE-002"},
	{Name: "load_doubles", Does: "replays what it has said twice", Own: true,
		ToCheck: func(w *Wire, m *Message) {
			w.pass(m)
			if replayed(`"agent_message`)(w, m) {
				replace(`"messageId":"`, `"messageId":"second-`)(m)
				w.pass(m)
			}
		},
		Finds: "AK-LOAD-004"},
	{Name: "load_replays_after_response", Does: "replays the history after the response",
		ToCheck: holds(replayed(), to(opens(true))),
		Finds:   "AK-LOAD-004 ACP-LOAD-002 v1:AK-ORDER-001 v2:ACP-RESUME-204"},
	{Name: "loads_unknown", Does: "loads sessions that do not exist",
		ToPeer: answersItself(opens(true).with(nobody), empty), Finds: "AK-LOAD-003"},
	{Name: "no_turn_after_load", Does: "has no turns in sessions that were loaded",
		ToPeer: answersItself(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && (w.sent("session/load") > 0 || w.sent("replayFrom") > 0)
		}, internalError),
		Finds: "AK-LOAD-001"},
	{Name: "loads_own_only", Does: "loads only sessions of the same connection",
		ToPeer: answersItself(opens(true).first("session/new").without(nobody), internalError),
		Finds:  "AK-LOAD-002"},
	{Name: "resume_replays", Does: "sends the history to clients that resume",
		ToCheck: precedes(to(opens(false)), update(`"sessionUpdate":"agent_message_chunk","messageId":"old","content":{"type":"text","text":"old"}`)),
		Finds:   "ACP-RESUME-002"},
	{Name: "no_turn_after_resume", Does: "has no turns in sessions that were resumed",
		ToPeer: answersItself(is("session/prompt").after("session/resume").first("replayFrom"), internalError),
		Finds:  "AK-RESUME-004"},
	{Name: "resumes_unknown", Does: "resumes sessions that do not exist",
		ToPeer: answersItself(opens(false).with(nobody), empty), Finds: "AK-RESUME-002"},
	{Name: "resumes_stateless", Does: "does not report the state of a session that was resumed", In: check.V2,
		ToCheck: drops(func(w *Wire, m *Message) bool {
			n := len(w.log)
			return n > 0 && w.log[n-1].Method == "session/resume" && m.has("state_update")
		}),
		Finds: "AK-RESUME-001"},
	{Name: "changes_ids", Does: "gives the messages of the history other ids", In: check.V2,
		ToCheck: changes(replayed(), replace(`"messageId":"`, `"messageId":"new-`)),
		Finds:   "ACP-RESUME-204"},
	{Name: "replays_chunks_only", Does: "replays chunks without their messages", In: check.V2,
		ToCheck: changes(replayed(`"agent_message"`), func(m *Message) {
			replace(`"agent_message"`, `"agent_message_chunk"`)(m)
			replace(`"content":[{`, `"content":{`)(m)
			replace(`}]`, `}`)(m)
		}),
		Finds: "ACP-RESUME-205"},
	{Name: "resumes_anywhere", Does: "takes any place to replay from", In: check.V2,
		ToPeer: answersItself(is("session/resume", "_acptest"), empty),
		Finds:  "AK-RESUME-003"},
	{Name: "close_fails", Does: "fails to close sessions without a turn",
		ToPeer: answersItself(is("session/close").first(`"session/prompt"`), internalError),
		Finds:  "ACP-CLOSE-001 AK-CLOSE-002",
		Spoils: "AK-CLOSE-003"},
	{Name: "close_ends_turn", Does: "ends a turn with end_turn when its session is closed",
		ToCheck: stops(func(w *Wire, _ *Message) bool { return w.sent("session/close") > 0 }, "cancelled", "end_turn"),
		Finds:   "ACP-CLOSE-002"},
	{Name: "close_unknown_fails", Does: "fails to close what does not exist",
		ToPeer: answersItself(is("session/close", nobody), internalError),
		Finds:  "AK-CLOSE-002"},
	{Name: "prompts_after_close", Does: "takes prompts for sessions that were closed",
		ToPeer: answersItself(is("session/prompt", `"hello"`).after("session/close"), `"result":{"stopReason":"end_turn","messageId":"m"}`),
		Finds:  "AK-CLOSE-003"},
	{Name: "updates_after_close", Does: "sends updates for sessions that were closed", In: check.V2,
		ToCheck: follows(responds("session/close", `"result"`), update(`"sessionUpdate":"usage_update","used":1,"size":1`)),
		Finds:   "AK-CLOSE-001"},
}

var ofSettings = []Defect{
	{Name: "unknown_mode", Does: "has a mode that it does not offer", Own: true, In: check.V1,
		ToCheck: changes(responds("session/new"), replace(`"currentModeId":"ask"`, `"currentModeId":"none"`)),
		Finds:   "ACP-MODES-001"},
	{Name: "mode_fails", Does: "fails to set a mode that it offers", Own: true, In: check.V1,
		ToPeer: answersItself(is("session/set_mode", `"auto"`), internalError),
		Finds:  "ACP-MODES-002"},
	{Name: "any_mode", Does: "takes modes that it does not offer", In: check.V1,
		ToPeer: answersItself(is("session/set_mode", "acptest-no-such-mode"), empty),
		Finds:  "AK-MODES-001"},
	{Name: "unknown_value", Does: "has an option with a value that it does not offer", Own: true,
		ToCheck: changes(responds("session/new"), replace(`"currentValue":"small"`, `"currentValue":"none"`)),
		Finds:   "ACP-CONFIG-001"},
	{Name: "old_value", Does: "answers with the value that an option had before", Own: true,
		ToCheck: changes(responds("session/set_config_option"), func(m *Message) {
			replace(`"currentValue":"auto"`, `"currentValue":"ask"`)(m)
			replace(`"currentValue":"large"`, `"currentValue":"small"`)(m)
		}),
		Finds: "ACP-CONFIG-002"},
	{Name: "any_value", Does: "takes values that it does not offer",
		ToPeer: answersItself(is("session/set_config_option", "acptest-no-such-value"), `"result":{"configOptions":[]}`),
		Finds:  "AK-CONFIG-002"},
	{Name: "settings_wait", Does: "does not answer a change of an option while a turn runs",
		ToPeer: drops(is("session/set_config_option").after("#slow")),
		Finds:  "AK-CONFIG-003"},
	{Name: "same_option_ids", Does: "has two options with the same id", Own: true,
		ToCheck: changes(responds("session/new"), func(m *Message) {
			replace(`"id":"model"`, `"id":"mode"`)(m)
			replace(`"configId":"model"`, `"configId":"mode"`)(m)
		}),
		Finds: "AK-CONFIG-001"},
	{Name: "command_with_space", Does: "has a command with a space in its name", Own: true, In: check.V2,
		ToCheck: changes(line(`"availableCommands"`), replace(`"name":"help"`, `"name":"help me"`)),
		Finds:   "AK-COMMAND-001"},
	{Name: "nameless_method", Does: "has a method to sign in without a name", Own: true,
		ToCheck: changes(responds("initialize"), replace(`"name":"Key"`, `"name":""`)),
		Finds:   "ACP-AUTH-001"},
	{Name: "offers_terminal", Does: "offers a method that needs a terminal to all clients",
		ToPeer: changes(is("initialize"), func(m *Message) {
			replace(`"clientCapabilities":{`, `"clientCapabilities":{"auth":{"terminal":true},`)(m)
			replace(`"capabilities":{}`, `"capabilities":{"auth":{"terminal":{}}}`)(m)
		}),
		Finds: "ACP-AUTH-202"},
	{Name: "unknown_method_type", Does: "has a method to sign in of an unknown type", In: check.V2,
		ToCheck: changes(responds("initialize"), replace(`"type":"agent"`, `"type":"browser"`)),
		Finds:   "ACP-AUTH-206"},
	{Name: "broken_variables", Does: "has variables that cannot be used", Own: true,
		ToCheck: changes(responds("initialize"), func(m *Message) {
			replace(`"env":{"MODE":"login"}`, `"env":{"MODE":5}`)(m)
			replace(`"env":[`, `"env":[{"name":"MODE","value":"other"},`)(m)
		}),
		Finds: "ACP-AUTH-207"},
	{Name: "forgets_sign_in", Does: "demands a sign-in after one that has succeeded",
		ToPeer: answersItself(is("session/new").after(`"methodId":"key"`), `"error":{"code":-32000,"message":"Authentication required"}`),
		Finds:  "ACP-AUTH-003",
		Spoils: needSession + " ACP-ADDDIRS-001 AK-RPC-011 ACP-SESSION-001 ACP-SESSION-203"},
	{Name: "any_method", Does: "takes methods to sign in that it does not offer",
		ToPeer: answersItself(line("acptest-no-such-method"), empty),
		Finds:  "AK-AUTH-001"},
}

var ofVersion2 = []Defect{
	{Name: "late_receipts", Does: "answers a prompt when its turn has ended", In: check.V2,
		ToCheck: holds(responds("session/prompt", `"result"`), line(`"stopReason"`)),
		Finds:   "ACP-PROMPT-201"},
	{Name: "no_echo", Does: "does not send prompts back", In: check.V2,
		ToCheck: drops(line(`"user_message`).first("session/resume")),
		Finds:   "ACP-PROMPT-203 AK-CANCEL-004 AK-CANCEL-005 AK-CANCEL-007",
		Spoils:  "AK-INSERT-001"},
	{Name: "same_message_ids", Does: "gives all prompts the same id", In: check.V2,
		ToCheck: changes(responds("session/prompt", `"messageId"`), becomes(`{"messageId":"same"}`)),
		Finds:   "ACP-PATCH-203 ACP-PROMPT-203 AK-CANCEL-004 AK-CANCEL-005 AK-CANCEL-007",
		Spoils:  "AK-INSERT-001"},
	{Name: "never_running", Does: "does not report that it is running", In: check.V2,
		ToCheck: drops(line(`"state":"running"`)),
		Finds:   "ACP-STATE-201"},
	{Name: "forgets_background", Does: "reports background work once", In: check.V2,
		ToCheck: changes(line(`"idle"`), replace(`"background":`, `"_background":`)),
		Finds:   "AK-STATE-001"},
	{Name: "exchanges_prompts", Does: "exchanges prompts that wait", In: check.V2,
		ToPeer: holds(func(w *Wire, m *Message) bool {
			n := len(w.log)
			return n > 0 && w.in(w.log[n-1], "#stream") && m.Method == "session/prompt"
		}, func(w *Wire, _ *Message) bool { return w.sent(`"session/prompt"`) == 3 }),
		Finds: "AK-INSERT-001"},
	{Name: "untitled_tools", Does: "has tool calls without a title", Own: true, In: check.V2,
		ToCheck: changes(is("session/update"), replace(`"title":"Look"`, `"title":null`)),
		Finds:   "ACP-PATCH-208"},
	{Name: "never_requires_action", Does: "does not report that it asks for permission", In: check.V2,
		ToCheck: drops(line(`"requires_action"`)),
		Finds:   "ACP-PATCH-209"},
	{Name: "keeps_questions", Does: "does not cancel its questions", In: check.V2,
		ToCheck: drops(line(`"$/cancel_request"`)),
		Finds:   "AK-PERM-008"},
	{Name: "unknown_kinds", Does: "has tool calls of a kind of its own", Own: true, In: check.V2,
		ToCheck: changes(is("session/update"), replace(`"kind":"read"`, `"kind":"reading"`)),
		Finds:   "ACP-ENUM-201"},
	{Name: "cancels_any_tool", Does: "cancels tool calls that do not exist", In: check.V2,
		ToPeer: answersItself(is("tool_call/cancel"), empty),
		Finds:  "AK-CANCEL-008"},
}
