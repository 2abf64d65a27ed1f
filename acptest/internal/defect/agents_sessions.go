package defect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// opens selects the request that opens a session again: with its history or without.
func opens(history bool) match {
	return func(_ *Wire, m *Message) bool {
		return !m.Response && (m.Method == "session/load" && history || m.Method == "session/resume" && m.has("replayFrom") == history)
	}
}

// inHistory selects the updates of a history that contain all of the texts.
func inHistory(texts ...string) match {
	return func(w *Wire, m *Message) bool {
		n := len(w.log)
		return n > 0 && opens(true)(w, w.log[n-1]) && m.Method == "session/update" && m.has(texts...)
	}
}

// replayed selects the messages of a history that contain all of the texts.
func replayed(texts ...string) match {
	f := inHistory(texts...)
	return func(w *Wire, m *Message) bool { return f(w, m) && (m.has(`"user_message`) || m.has(`"agent_`)) }
}

var ofSessions = []Defect{
	{Name: "no_session_id", Does: "starts sessions without an id", ToCheck: changes(responds("session/new", `"result"`), becomes(`{}`)), Finds: "ACP-SESSION-001 ACP-PROMPT-002"},
	{Name: "duplicate_session_id", Does: "gives two sessions the same id",
		ToCheck: func(w *Wire, m *Message) {
			if responds("session/new", `"result"`)(w, m) {
				w.held = append(w.held, m)
				replace(m.session(), w.held[0].session())(m)
			}
			w.pass(m)
		},
		Finds: "ACP-SESSION-002 ACP-PROMPT-002 AK-SESSION-002 AK-SESSION-005 AK-DELETE-001 AK-LOAD-005 AK-CLOSE-005"},
	{Name: "wants_mcp_servers", Does: "starts no session without mcpServers", In: check.V2, ToPeer: answersItself(is("session/new").without("mcpServers"), invalidParams), Finds: "ACP-SESSION-203 AK-NULL-002"},
	{Name: "same_mcp_names", Does: "takes two MCP servers of the same name", In: check.V2, ToPeer: answersItself(is("session/new", `"acptest-twice"`), `"result":{"sessionId":"mcp"}`), Finds: "AK-MCP-001"},
	{Name: "any_mcp_transport", Does: "takes MCP servers of a transport that it does not advertise", In: check.V2, ToPeer: answersItself(is("session/new", `"type":"_acptest"`, `"mcpServers":[{`), `"result":{"sessionId":"mcp"}`), Finds: "AK-MCP-002"},
	{Name: "refuses_directories", Does: "starts no session with additional directories", ToPeer: answersItself(is("session/new", "additionalDirectories"), internalError), Finds: "ACP-ADDDIRS-001"},
	{Name: "keeps_directories", Does: "keeps the additional directories of a session that is opened without them", ToCheck: changes(responds("session/list"), replace(`"cwd":"`, `"additionalDirectories":["/more"],"cwd":"`)), Finds: "AK-ADDDIRS-001"},
	{Name: "starts_late", Does: "starts no session while a turn runs", ToPeer: drops(is("session/new").after("#slow").first("session/cancel")), Finds: "AK-SESSION-006"},
	{Name: "prompts_without_session", Does: "takes prompts for sessions that do not exist", ToPeer: answersItself(is("session/prompt", nobody), `"result":{"stopReason":"end_turn","messageId":"m"}`), Finds: "AK-SESSION-001"},
	{Name: "session_internal_error", Does: "fails with an internal error for sessions that do not exist", ToPeer: answersItself(is("session/prompt", nobody), internalError), Finds: "AK-SESSION-001"},
	{Name: "one_turn_for_all", Does: "runs the turns of all sessions one after the other",
		ToPeer: drops(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && w.sent(`"session/new"`) > 1 && w.sent(`"session/cancel"`) == 0 && w.sent("#slow") > 0
		}),
		Finds: "AK-SESSION-002"},
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
	{Name: "relative_folders", Does: "starts sessions in relative folders", ToPeer: answersItself(is("session/new", `"acptest-relative"`), `"result":{"sessionId":"relative"}`), Finds: "AK-SESSION-004"},
	{Name: "answers_elsewhere", Does: "sends what it says to the newest session", Own: true, In: check.V1, ToCheck: func(w *Wire, m *Message) {
		if responds("session/new")(w, m) {
			w.held = append(w.held, m)
		}
		if n := len(w.held); n > 1 && is("session/update", `"agent_message_chunk"`).after("#stream").first("session/load")(w, m) {
			replace(m.session(), w.held[n-1].session())(m)
		}
		w.pass(m)
	}, Finds: "AK-SESSION-005"},
	{Name: "lists_other_folder", Does: "lists sessions in another folder than theirs", ToCheck: changes(responds("session/list"), func(m *Message) {
		if !m.request.has(`"cwd"`) {
			replace(`"cwd":"/`, `"cwd":"/other/`)(m)
		}
	}), Finds: "AK-LIST-005"},
	{Name: "loses_the_last", Does: "does not list the last session of a page, in one folder", ToCheck: changes(responds("session/list", `"sessions":[{`, `},{`, `pages"`), func(m *Message) {
		list := string(m.Object["result"])
		m.Set("result", list[:strings.LastIndex(list, `,{"sessionId"`)]+`]}`)
	}), Finds: "AK-LIST-004"},
	{Name: "lists_prefixes", Does: "lists the sessions of all folders that begin so", ToCheck: changes(to(is("session/list", `/list"`)), func(m *Message) {
		m.Set("result", `{"sessions":[{"sessionId":"other","cwd":"`+strings.TrimSuffix(m.request.cwd(), "/")+`-beside"}]}`)
	}), Finds: "ACP-LIST-002 AK-PATH-001 AK-LIST-001"},
	{Name: "deletes_all", Does: "lists nothing after a session was deleted", ToCheck: changes(responds("session/list").after("session/delete"), becomes(`{"sessions":[]}`)), Finds: "AK-DELETE-001"},
	{Name: "deletes_late", Does: "does not answer session/delete while a turn runs", ToPeer: drops(is("session/delete").after("#slow")), Finds: "AK-DELETE-002"},
	{Name: "close_deletes", Does: "has no session any more that was closed", In: check.V1, ToPeer: func(w *Wire, m *Message) {
		closed := slices.ContainsFunc(w.log, func(one *Message) bool { return one.Method == "session/close" && one.session() == m.session() })
		if closed && (is("session/load")(w, m) || is("session/resume")(w, m)) {
			answersItself(line(), `"error":{"code":-32002,"message":"Resource not found"}`)(w, m)
			return
		}
		w.pass(m)
	}, ToCheck: changes(responds("session/list").after("session/close"), becomes(`{"sessions":[]}`)), Finds: "AK-CLOSE-004"},
	{Name: "close_forgets", Does: "lists no session that was closed", ToCheck: changes(responds("session/list").after("session/close"), becomes(`{"sessions":[]}`)), Finds: "AK-CLOSE-004"},
	{Name: "close_cancels_all", Does: "cancels the turns of all sessions when one is closed", ToPeer: func(w *Wire, m *Message) {
		for _, p := range w.log {
			if m.Method == "session/close" && p.Method == "session/prompt" && p.session() != m.session() {
				w.ToPeer(&Message{Raw: []byte(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + p.session() + `"}}`)})
			}
		}
		w.pass(m)
	}, Finds: "AK-CLOSE-005"},
	{Name: "loads_once", Does: "replays nothing the second time", ToCheck: drops(func(w *Wire, m *Message) bool { return replayed()(w, m) && w.opened() > 1 }), Finds: "AK-LOAD-005"},
	{Name: "loads_into_newest", Does: "replays messages under the id of another session", In: check.V1, ToCheck: func(w *Wire, m *Message) {
		if responds("session/new")(w, m) {
			w.held = append(w.held, m)
		}
		if n := len(w.held); n > 1 && replayed()(w, m) {
			replace(m.session(), w.held[n-1].session())(m)
		}
		w.pass(m)
	}, Finds: "AK-LOAD-005 AK-LOAD-006 v1:AK-ORDER-001"},
	{Name: "plans_by_id", Does: "sends plans by id to all clients", In: check.V1, ToCheck: follows(is("session/update", `"tool_call"`).after("#tool"), update(`"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[]}`)), Finds: "AK-PLAN-001"},
	{Name: "cursor_without_anchor", Does: "tells cursors without an anchor", ToCheck: follows(responds("session/new").after(`"cursors"`), update(`"sessionUpdate":"cursor_update","cursorId":"c"`)), Finds: "AK-CURSOR-001"},
	{Name: "blank_suggestions", Does: "suggests a blank prompt", ToCheck: follows(responds("session/new").after(`"promptSuggestions"`), update(`"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":" "}]}]`)), Finds: "AK-SUGGEST-001"},
	{Name: "unsendable_suggestions", Does: "suggests audio, which it takes in no prompt", ToCheck: func(w *Wire, m *Message) {
		if responds("initialize")(w, m) {
			replace(`"audio":true,`, ``)(m)
			replace(`"audio":{},`, ``)(m)
		}
		follows(responds("session/new").after(`"promptSuggestions"`), update(`"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"audio","mimeType":"audio/wav","data":"AA=="}]}]`))(w, m)
	}, Finds: "AK-SUGGEST-001 AK-CAPABILITY-001"},
	{Name: "takes_no_skills", Does: "lists skills, and takes none", In: check.V2, ToCheck: func(w *Wire, m *Message) {
		if responds("initialize")(w, m) {
			replace(`"skill":{},`, ``)(m)
		}
		follows(responds("session/new").after(`"commands"`), update(`"sessionUpdate":"available_commands_update","availableCommands":[{"type":"skill","name":"x","description":"X"}]`))(w, m)
	}, Finds: "AK-SKILL-001"},
	{Name: "fails_when_shown", Does: "fails turns for a client that shows everything", ToPeer: answersItself(is("session/prompt", "#tool").after(`"subagents"`), internalError), Finds: "AK-CAPABILITY-002"},
	{Name: "replays_endlessly", Does: "does not tell the end of a replay", In: check.V2, ToCheck: drops(line(`"replay_complete"`)), Finds: "AK-REPLAY-001"},
	{Name: "replay_told_twice", Does: "tells the end of a replay twice", In: check.V2, ToCheck: doubles(line(`"replay_complete"`)), Finds: "AK-REPLAY-001"},
	{Name: "replay_never_asked", Does: "tells the end of a replay that nobody asked for", In: check.V2, ToCheck: precedes(responds("session/resume").without("replayFrom"), update(`"sessionUpdate":"replay_complete"`)), Finds: "AK-REPLAY-001"},
	{Name: "replays_behind_the_end", Does: "replays what it has said behind the end of the replay", In: check.V2, ToCheck: holds(replayed(`"agent_message`), line(`"replay_complete"`)), Finds: "AK-REPLAY-001"},
	{Name: "child_replays_endlessly", Does: "does not tell the end of the replay of a session that the history announces", In: check.V2, ToCheck: precedes(line(`"replay_complete"`), update(`"sessionUpdate":"subagent_update","sessionId":"child-$N"`)), Finds: "AK-REPLAY-001"},
	{Name: "options_start", Does: "sends an update because of session/options", ToCheck: precedes(responds("session/options"), `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"usage_update","used":1,"size":1}}}`), Finds: "AK-OPTIONS-001"},
	{Name: "options_are_listed", Does: "lists a session because of session/options", ToCheck: changes(responds("session/list").after("session/options"), func(m *Message) {
		m.Set("result", `{"sessions":[{"sessionId":"option","cwd":"`+m.request.cwd()+`"}]}`)
	}), Finds: "AK-OPTIONS-001"},
	{Name: "strict_options", Does: "starts no session with a value that does not exist", ToPeer: answersItself(is("session/new", "acptest-no-such-value"), invalidParams), Finds: "AK-OPTIONS-002"},
	{Name: "ignores_options", Does: "ignores the values for the start of a session", ToPeer: changes(is("session/new"), replace(`"configOptions"`, `"_configOptions"`)), Finds: "AK-OPTIONS-003 v2:AK-OPTIONS-004"},
	{Name: "forks_anywhere", Does: "forks sessions at any cursor", ToCheck: follows(responds("session/new").after(`"cursors"`), update(`"sessionUpdate":"cursor_update","cursorId":"c","anchor":{"type":"_acptest"}`)), ToPeer: answersItself(is("session/fork", "acptest-no-such-cursor"), `"result":{"sessionId":"fork"}`), Finds: "AK-FORK-001"},
	{Name: "forks_itself", Does: "answers session/fork with the session itself", ToPeer: func(w *Wire, m *Message) {
		answersItself(is("session/fork").without("acptest-no-such-cursor"), `"result":{"sessionId":"`+m.session()+`"}`)(w, m)
	}, Finds: "AK-FORK-002"},
	{Name: "open_is_saved", Does: "says that an open session is saved", ToPeer: answersItself(is("session/status").without(nobody), `"result":{"status":"saved"}`), Finds: "AK-STATUS-001"},
	{Name: "status_of_nobody", Does: "has a status for sessions that do not exist", ToPeer: answersItself(is("session/status", nobody), `"result":{"status":"saved"}`), Finds: "AK-STATUS-002"},
	{Name: "loses_titles", Does: "returns an empty title", ToCheck: changes(responds("session/set_title", `"result"`), becomes(`{"title":""}`)), Finds: "AK-TITLE-001"},
	{Name: "blank_titles", Does: "takes a blank title", ToPeer: answersItself(is("session/set_title", `"title":" "`), `"result":{"title":" "}`), Finds: "AK-TITLE-002"},
	{Name: "archives_nothing", Does: "lists sessions that were archived", ToPeer: answersItself(is("session/archive").without(nobody), empty), Finds: "AK-ARCHIVE-001"},
	{Name: "archives_nobody", Does: "archives sessions that do not exist", ToPeer: answersItself(is("session/archive", nobody), empty), Finds: "AK-ARCHIVE-002"},
	{Name: "any_skill", Does: "takes skills that do not exist", In: check.V2, ToPeer: answersItself(is("session/prompt", "acptest-no-such-skill"), `"result":{"messageId":"m"}`), Finds: "AK-SKILL-002"},
	{Name: "any_system_prompt", Does: "ignores a system prompt that it cannot apply", ToPeer: answersItself(is("session/new", `"_acptest"`, "systemPrompt"), `"result":{"sessionId":"system"}`), Finds: "AK-SYSTEM-001"},
	{Name: "no_system_prompt", Does: "refuses each system prompt", ToPeer: answersItself(is("session/new", `"append"`), invalidParams), Finds: "AK-SYSTEM-002"},
	{Name: "empty_list", Does: "lists no sessions", ToCheck: changes(responds("session/list", `"sessions"`), becomes(`{"sessions":[]}`)), Finds: "AK-LIST-001"},
	{Name: "endless_list", Does: "ends no list", ToPeer: changes(is("session/list", `"again"`), replace(`"cursor"`, `"_cursor"`)), ToCheck: changes(responds("session/list"), replace(`"sessions":`, `"nextCursor":"again","sessions":`)), Finds: "AK-LIST-002"},
	{Name: "lists_all_folders", Does: "lists the sessions of all folders", ToPeer: changes(is("session/list"), replace(`"cwd"`, `"_cwd"`)), Finds: "ACP-LIST-002"},
	{Name: "takes_empty_cursor_for_none", Does: "begins a list anew for an empty cursor", In: check.V2, ToPeer: changes(is("session/list"), replace(`"cursor":""`, `"cursor":null`)), Finds: "AK-LIST-003"},
	{Name: "any_cursor", Does: "takes any cursor", ToCheck: changes(responds("session/list", `"error"`), becomes(`{"sessions":[]}`)), Finds: "AK-LIST-003"},
	{Name: "keeps_deleted", Does: "lists sessions that were deleted", ToPeer: answersItself(is("session/delete"), empty), Finds: "ACP-DELETE-202"},
	{Name: "delete_fails", Does: "fails to delete what does not exist", ToPeer: answersItself(is("session/delete", nobody), internalError), Finds: "ACP-DELETE-002"},
	{Name: "load_doubles", Does: "replays what it has said twice", Own: true,
		ToCheck: func(w *Wire, m *Message) {
			w.pass(m)
			if replayed(`"agent_message`)(w, m) {
				replace(`"messageId":"`, `"messageId":"second-`)(m)
				w.pass(m)
			}
		},
		Finds: "AK-LOAD-004 AK-LOAD-005"},
	{Name: "replays_no_tool_calls", Does: "leaves tool calls out of histories", ToCheck: drops(inHistory(`"tool_call`)), Finds: "AK-LOAD-007"},
	{Name: "load_replays_after_response", Does: "replays the history after the response", ToCheck: holds(replayed(), to(opens(true))), Finds: "AK-LOAD-004 AK-LOAD-005 ACP-LOAD-002 v2:ACP-RESUME-204"},
	{Name: "loads_unknown", Does: "loads sessions that do not exist", ToPeer: answersItself(opens(true).with(nobody), empty), Finds: "AK-LOAD-003"},
	{Name: "no_turn_after_load", Does: "has no turns in sessions that were loaded",
		ToPeer: answersItself(func(w *Wire, m *Message) bool {
			return m.Method == "session/prompt" && (w.sent("session/load") > 0 || w.sent("replayFrom") > 0)
		}, internalError),
		Finds: "AK-LOAD-001"},
	{Name: "loads_own_only", Does: "loads only sessions of the same connection", ToPeer: answersItself(opens(true).first("session/new").without(nobody), internalError), Finds: "AK-LOAD-002"},
	{Name: "resume_wants_mcp_servers", Does: "resumes no session without mcpServers", In: check.V1, ToPeer: answersItself(is("session/resume").without("mcpServers").without(nobody), invalidParams), Finds: "ACP-RESUME-002"},
	{Name: "resume_replays", Does: "sends the history to clients that resume", ToCheck: precedes(to(opens(false)), update(`"sessionUpdate":"agent_message_chunk","messageId":"old","content":{"type":"text","text":"old"}`)), Finds: "ACP-RESUME-002"},
	{Name: "no_turn_after_resume", Does: "has no turns in sessions that were resumed", ToPeer: answersItself(is("session/prompt").after("session/resume").first("replayFrom"), internalError), Finds: "AK-RESUME-004"},
	{Name: "resumes_unknown", Does: "resumes sessions that do not exist", ToPeer: answersItself(opens(false).with(nobody), empty), Finds: "AK-RESUME-002"},
	{Name: "resumes_stateless", Does: "does not report the state of a session that was resumed", In: check.V2,
		ToCheck: drops(func(w *Wire, m *Message) bool {
			n := len(w.log)
			return n > 0 && w.log[n-1].Method == "session/resume" && m.has("state_update")
		}),
		Finds: "AK-RESUME-001"},
	{Name: "changes_ids", Does: "gives the messages of the history other ids", In: check.V2, ToCheck: changes(replayed(), replace(`"messageId":"`, `"messageId":"new-`)), Finds: "ACP-RESUME-204"},
	{Name: "replays_chunks_only", Does: "replays chunks without their messages", In: check.V2,
		ToCheck: changes(replayed(`"agent_message"`), func(m *Message) {
			replace(`"agent_message"`, `"agent_message_chunk"`)(m)
			replace(`"content":[{`, `"content":{`)(m)
			replace(`}]`, `}`)(m)
		}),
		Finds: "ACP-RESUME-205"},
	{Name: "resumes_anywhere", Does: "takes any place to replay from", In: check.V2, ToPeer: answersItself(is("session/resume", "_acptest"), empty), Finds: "AK-RESUME-003"},
	{Name: "close_fails", Does: "fails to close sessions without a turn", ToPeer: answersItself(is("session/close").first(`"session/prompt"`), internalError), Finds: "ACP-CLOSE-001 AK-CLOSE-002"},
	{Name: "close_ends_turn", Does: "ends a turn with end_turn when its session is closed",
		ToCheck: stops(func(w *Wire, _ *Message) bool { return w.sent("session/close") > 0 }, "cancelled", "end_turn"),
		Finds:   "ACP-CLOSE-002"},
	{Name: "close_unknown_fails", Does: "fails to close what does not exist", ToPeer: answersItself(is("session/close", nobody), internalError), Finds: "AK-CLOSE-002"},
	{Name: "prompts_after_close", Does: "takes prompts for sessions that were closed", ToPeer: answersItself(is("session/prompt", `"hello"`).after("session/close"), `"result":{"stopReason":"end_turn","messageId":"m"}`), Finds: "AK-CLOSE-003"},
	{Name: "closes_before_the_end", Does: "tells the end of a turn after the response to session/close", In: check.V2, ToCheck: holds(func(w *Wire, m *Message) bool {
		n := len(w.log)
		return m.has(`"idle"`) && n > 0 && w.log[n-1].Method == "session/close"
	}, responds("session/close")), Finds: "AK-CLOSE-001"},
	{Name: "updates_after_close", Does: "sends updates for sessions that were closed", In: check.V2, ToCheck: follows(responds("session/close", `"result"`), update(`"sessionUpdate":"usage_update","used":1,"size":1`)), Finds: "AK-CLOSE-001"},
}

var ofSettings = []Defect{
	{Name: "unknown_mode", Does: "has a mode that it does not offer", Own: true, In: check.V1, ToCheck: changes(responds("session/new"), replace(`"currentModeId":"ask"`, `"currentModeId":"none"`)), Finds: "ACP-MODES-001"},
	{Name: "tells_unknown_mode", Does: "tells a mode that it does not offer", In: check.V1, Own: true, ToCheck: follows(responds("session/new"), update(`"sessionUpdate":"current_mode_update","currentModeId":"none"`)), Finds: "ACP-MODES-001"},
	{Name: "mode_fails", Does: "fails to set a mode that it offers", Own: true, In: check.V1, ToPeer: answersItself(is("session/set_mode", `"auto"`), internalError), Finds: "ACP-MODES-002"},
	{Name: "modes_fail_while_working", Does: "fails to set a mode while a turn runs", In: check.V1, ToPeer: answersItself(is("session/set_mode").after("#slow").first("session/cancel"), internalError), Finds: "AK-MODES-004"},
	{Name: "options_fail_while_working", Does: "fails to set an option while a turn runs", ToPeer: answersItself(is("session/set_config_option").after("#slow").first("session/cancel"), internalError), Finds: "AK-CONFIG-005"},
	{Name: "tells_one_option", Does: "tells one option when one was changed", Own: true, ToCheck: func(w *Wire, m *Message) {
		id := "id"
		if m.has(`"configId":"model"`) {
			id = "configId"
		}
		w.add(responds("session/set_config_option", `"result"`), m, update(`"sessionUpdate":"config_option_update","configOptions":[{"`+id+`":"model","name":"Model","type":"select","currentValue":"small","options":[{"value":"small","name":"Small"}]}]`))
		w.pass(m)
	}, Finds: "AK-CONFIG-006"},
	{Name: "sets_nowhere", Does: "sets options of sessions that do not exist", ToPeer: answersItself(is("session/set_config_option", nobody), `"result":{"configOptions":[]}`), Finds: "AK-CONFIG-007"},
	{Name: "any_mode", Does: "takes modes that it does not offer", In: check.V1, ToPeer: answersItself(is("session/set_mode", "acptest-no-such-mode"), empty), Finds: "AK-MODES-001"},
	{Name: "modes_apart", Does: "starts with a mode that the option of the mode does not have", Own: true, In: check.V1, ToCheck: changes(responds("session/new"), replace(`"currentModeId":"ask"`, `"currentModeId":"auto"`)), Finds: "AK-MODES-003"},
	{Name: "modes_alone", Does: "sets the mode, and not the option of the mode", Own: true, In: check.V1, ToCheck: changes(line(`"configOptions"`).after("session/set_mode"), replace(`"currentValue":"auto"`, `"currentValue":"ask"`)), Finds: "AK-MODES-003"},
	{Name: "options_alone", Does: "sets the option of the mode, and not the mode", Own: true, In: check.V1, ToCheck: changes(is("session/update", "current_mode_update").after("session/set_config_option"), replace(`"currentModeId":"ask"`, `"currentModeId":"auto"`)), Finds: "AK-MODES-003"},
	{Name: "unknown_value", Does: "has an option with a value that it does not offer", Own: true, ToCheck: changes(responds("session/new"), replace(`"currentValue":"small"`, `"currentValue":"none"`)), Finds: "ACP-CONFIG-001"},
	{Name: "old_value", Does: "answers with the value that an option had before", Own: true,
		ToCheck: changes(responds("session/set_config_option"), func(m *Message) {
			replace(`"currentValue":"auto"`, `"currentValue":"ask"`)(m)
			replace(`"currentValue":"large"`, `"currentValue":"small"`)(m)
		}),
		Finds: "ACP-CONFIG-002"},
	{Name: "any_value", Does: "takes values that it does not offer", ToPeer: answersItself(is("session/set_config_option", "acptest-no-such-value"), `"result":{"configOptions":[]}`), Finds: "AK-CONFIG-002"},
	{Name: "sets_everywhere", Does: "changes an option in all sessions", Own: true, ToCheck: func(w *Wire, m *Message) {
		if responds("session/new")(w, m) {
			w.held = append(w.held, m)
		}
		w.pass(m)
		if n := len(w.held); n > 1 && responds("session/set_config_option", `"configOptions"`)(w, m) {
			w.LineToCheck([]byte(strings.ReplaceAll(update(`"sessionUpdate":"config_option_update",`+strings.TrimSuffix(string(m.Object["result"])[1:], "}")), "$S", w.held[n-1].session())))
		}
	}, Finds: "AK-CONFIG-004"},
	{Name: "shares_options", Does: "has one value of an option for all sessions", Own: true, ToCheck: changes(func(w *Wire, m *Message) bool {
		return responds("session/set_config_option")(w, m) && slices.ContainsFunc(w.log, func(one *Message) bool { return one.has(`"value":"auto"`) && one.session() != m.session() })
	}, replace(`"currentValue":"ask"`, `"currentValue":"auto"`)), Finds: "AK-CONFIG-004"},
	{Name: "modes_wait", Does: "does not answer a change of the mode while a turn runs", In: check.V1, ToPeer: drops(is("session/set_mode").after("#slow")), Finds: "AK-MODES-002"},
	{Name: "one_option", Does: "answers with the option that was changed alone", Own: true, ToCheck: changes(responds("session/set_config_option", `"configOptions"`), func(m *Message) {
		var all struct{ ConfigOptions []json.RawMessage }
		_ = json.Unmarshal(m.Object["result"], &all) // the peer is right
		for _, one := range all.ConfigOptions {
			if strings.Contains(string(one), `"model"`) == m.request.has(`"model"`) {
				m.Set("result", `{"configOptions":[`+string(one)+`]}`)
			}
		}
	}), Finds: "ACP-CONFIG-002"},
	{Name: "settings_wait", Does: "does not answer a change of an option while a turn runs", ToPeer: drops(is("session/set_config_option").after("#slow")), Finds: "AK-CONFIG-003"},
	{Name: "same_option_ids", Does: "has two options with the same id", Own: true,
		ToCheck: changes(responds("session/new"), func(m *Message) {
			replace(`"id":"model"`, `"id":"mode"`)(m)
			replace(`"configId":"model"`, `"configId":"mode"`)(m)
		}),
		Finds: "AK-CONFIG-001"},
	{Name: "command_with_space", Does: "has a command with a space in its name", Own: true, In: check.V2, ToCheck: changes(line(`"availableCommands"`), replace(`"name":"help"`, `"name":"help me"`)), Finds: "AK-COMMAND-001"},
	{Name: "one_method_twice", Does: "has two methods to sign in with the same id", Own: true, ToCheck: changes(responds("initialize"), replace(`"key","name":"Key"}`, `"key","name":"Key"},{"type":"agent","id":"key","name":"Other"}`)), In: check.V1, Finds: "ACP-AUTH-001"},
	{Name: "offers_terminal", Does: "offers a method that needs a terminal to all clients",
		ToPeer: changes(is("initialize"), func(m *Message) {
			replace(`"clientCapabilities":{`, `"clientCapabilities":{"auth":{"terminal":true},`)(m)
			replace(`"capabilities":{}`, `"capabilities":{"auth":{"terminal":{}}}`)(m)
		}),
		Finds: "ACP-AUTH-202"},
	{Name: "unknown_method_type", Does: "has a method to sign in of an unknown type", In: check.V2, ToCheck: changes(responds("initialize"), replace(`"type":"agent"`, `"type":"browser"`)), Finds: "ACP-AUTH-206 v2:ACP-ENUM-202"},
	{Name: "broken_variables", Does: "has variables that cannot be used", Own: true,
		ToCheck: changes(responds("initialize"), func(m *Message) {
			replace(`"env":{"MODE":"login"}`, `"env":{"MODE":5}`)(m)
			replace(`"env":[`, `"env":[{"name":"MODE","value":"other"},`)(m)
		}),
		Finds: "ACP-AUTH-207"},
	{Name: "forgets_sign_in", Does: "demands a sign-in after one that has succeeded", ToPeer: answersItself(is("session/new").after(`"methodId"`), `"error":{"code":-32000,"message":"Authentication required"}`), Finds: "ACP-AUTH-003 AK-AUTH-002 v2:AK-OPTIONS-004"},
	{Name: "fails_before_sign_in", Does: "fails with an internal error before a sign-in", ToPeer: answersItself(is("session/new").first(`"methodId"`), internalError), Finds: "AK-AUTH-004 v2:AK-INIT-006"},
	{Name: "status_fails", Does: "does not know auth/status, and advertises it", ToPeer: answersItself(is("auth/status"), `"error":{"code":-32601,"message":"Method not found"}`), Finds: "AK-AUTH-002"},
	{Name: "denies_sign_in", Does: "tells that nobody is signed in after a sign-in", ToPeer: answersItself(is("auth/status").after(`"methodId"`), `"result":{"state":"unauthenticated"}`), Finds: "AK-AUTH-002"},
	{Name: "signed_in_in_vain", Does: "tells that no sign-in is needed, and wants one", ToPeer: answersItself(is("session/new").after(`"auth/status"`), `"error":{"code":-32000,"message":"Authentication required"}`), Finds: "AK-AUTH-002"},
	{Name: "repeats_status", Does: "tells the state of the sign-in with each session", ToCheck: func(w *Wire, m *Message) {
		w.pass(m)
		for range 2 { // some checks start one session
			w.add(responds("session/new"), m, statusUpdate)
		}
	}, Finds: "AK-AUTH-003"},
	{Name: "unadvertised_status", Does: "tells the state of the sign-in, and does not advertise it",
		ToCheck: changes(responds("initialize"), replace(`"status":{}}`, `"_status":{}}`)), ToPeer: precedes(is("session/new"), statusUpdate), Finds: "AK-AUTH-003 v1:AK-RPC-015"},
	{Name: "any_method", Does: "takes methods to sign in that it does not offer", ToPeer: answersItself(line("acptest-no-such-method"), empty), Finds: "AK-AUTH-001"},
}

const statusUpdate = `{"jsonrpc":"2.0","method":"auth/status_update","params":{"state":"not_required"}}`

var ofVersion2 = []Defect{
	{Name: "late_receipts", Does: "answers a prompt when its turn has ended", In: check.V2, ToCheck: holds(responds("session/prompt", `"result"`), line(`"stopReason"`)), Finds: "ACP-PROMPT-201"},
	{Name: "no_echo", Does: "does not send prompts back", In: check.V2, ToCheck: drops(line(`"user_message`).first("session/resume")), Finds: "ACP-PROMPT-203"},
	{Name: "same_message_ids", Does: "gives all prompts the same id", In: check.V2, ToCheck: changes(responds("session/prompt", `"messageId"`), becomes(`{"messageId":"same"}`)), Finds: "ACP-PATCH-203 ACP-PROMPT-203"},
	{Name: "never_running", Does: "does not report that it is running", In: check.V2, ToCheck: drops(line(`"state":"running"`)), Finds: "ACP-STATE-201"},
	{Name: "hides_background", Does: "reports background work that it has not announced", In: check.V2, ToCheck: changes(line(`"idle"`), replace(`"background":[]`, `"background":[{"type":"terminal","terminalId":"none"}]`)), Finds: "AK-STATE-001"},
	{Name: "forgets_background", Does: "reports background work once", In: check.V2, ToCheck: changes(line(`"idle"`), replace(`"background":`, `"_background":`)), Finds: "AK-STATE-001"},
	{Name: "exchanges_prompts", Does: "exchanges prompts that wait", In: check.V2,
		ToPeer: holds(func(w *Wire, m *Message) bool {
			n := len(w.log)
			return n > 0 && w.in(w.log[n-1], "#stream") && m.Method == "session/prompt"
		}, func(w *Wire, _ *Message) bool { return w.sent(`"session/prompt"`) == 3 }),
		Finds: "AK-INSERT-001"},
	{Name: "untitled_tools", Does: "has tool calls without a title", Own: true, In: check.V2, ToCheck: changes(is("session/update"), replace(`"title":"Look"`, `"title":null`)), Finds: "ACP-PATCH-208"},
	{Name: "never_requires_action", Does: "does not report that it asks for permission", In: check.V2, ToCheck: drops(line(`"requires_action"`)), Finds: "ACP-PATCH-209"},
	{Name: "keeps_questions", Does: "does not cancel its questions", In: check.V2, ToCheck: drops(line(`"$/cancel_request"`)), Finds: "AK-PERM-008"},
	{Name: "unknown_kinds", Does: "has tool calls of a kind of its own", Own: true, In: check.V2, ToCheck: changes(is("session/update"), replace(`"kind":"read"`, `"kind":"reading"`)), Finds: "ACP-ENUM-201"},
	{Name: "cancels_any_terminal", Does: "cancels terminals that do not exist", In: check.V2, ToPeer: answersItself(is("terminal/cancel"), empty), Finds: "AK-CANCEL-008"},
	{Name: "errors_when_cancelled", Does: "ends a cancelled turn with the stop reason error, or before it begins with an internal error", In: check.V2, ToCheck: func(w *Wire, m *Message) {
		if responds("session/prompt", "-32800")(w, m) && is("session/prompt", "#slow")(w, m.request) {
			fails(-32603, "Internal error")(m)
		}
		// A turn that streams may have ended before the cancel arrives.
		stops(func(w *Wire, _ *Message) bool { return w.sent("#stream") == 0 }, "cancelled", "error")(w, m)
	}, Finds: "ACP-CANCEL-001 ACP-CLOSE-002 AK-CANCEL-001 AK-CANCEL-003 AK-PERM-006"},
	{Name: "forgets_withdrawn_prompts", Does: "does not answer prompts that were withdrawn", In: check.V2, ToCheck: drops(func(w *Wire, m *Message) bool {
		return responds("session/prompt", "-32800")(w, m) && w.sent(`"session/prompt"`) > 1
	}), Finds: "AK-INSERT-001 AK-INSERT-002 AK-PROMPT-002"},
	{Name: "cancels_any_tool", Does: "cancels tool calls that do not exist", In: check.V2, ToPeer: answersItself(is("tool_call/cancel"), empty), Finds: "AK-CANCEL-008"},
}
