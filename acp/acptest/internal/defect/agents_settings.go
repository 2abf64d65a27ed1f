package defect

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

var ofSettings = []Defect{
	{Name: "unknown_mode", Does: "has a mode that it does not offer", Own: true, In: check.V1,
		New:   changes(responds("session/new"), replace(`"currentModeId":"ask"`, `"currentModeId":"none"`)),
		Finds: found("ACP-MODES-001", "")},
	{Name: "mode_fails", Does: "fails to set a mode that it offers", Own: true, In: check.V1,
		New:   answersItself(is("session/set_mode", `"auto"`), internalError),
		Finds: found("ACP-MODES-002", "")},
	{Name: "any_mode", Does: "takes modes that it does not offer", In: check.V1,
		New:   answersItself(is("session/set_mode", "acptest-no-such-mode"), empty),
		Finds: found("AK-MODES-001", "")},
	{Name: "unknown_value", Does: "has an option with a value that it does not offer", Own: true,
		New:   changes(responds("session/new"), replace(`"currentValue":"small"`, `"currentValue":"none"`)),
		Finds: found("ACP-CONFIG-001", "")},
	{Name: "old_value", Does: "answers with the value that an option had before", Own: true,
		New: changes(responds("session/set_config_option"), func(m *Message) {
			replace(`"currentValue":"auto"`, `"currentValue":"ask"`)(m)
			replace(`"currentValue":"large"`, `"currentValue":"small"`)(m)
		}),
		Finds: found("ACP-CONFIG-002", "")},
	{Name: "any_value", Does: "takes values that it does not offer",
		New:   answersItself(is("session/set_config_option", "acptest-no-such-value"), `"result":{"configOptions":[]}`),
		Finds: found("AK-CONFIG-002", "")},
	{Name: "settings_wait", Does: "does not answer a change of an option while a turn runs",
		New:   ignores(is("session/set_config_option").after("#slow")),
		Finds: found("AK-CONFIG-003", "")},
	{Name: "same_option_ids", Does: "has two options with the same id", Own: true,
		New: changes(responds("session/new"), func(m *Message) {
			replace(`"id":"model"`, `"id":"mode"`)(m)
			replace(`"configId":"model"`, `"configId":"mode"`)(m)
		}),
		Finds: found("AK-CONFIG-001", "")},
	{Name: "command_with_space", Does: "has a command with a space in its name", Own: true, In: check.V2,
		New:   changes(line(`"availableCommands"`), replace(`"name":"help"`, `"name":"help me"`)),
		Finds: found("AK-COMMAND-001", "")},
	{Name: "nameless_method", Does: "has a method to sign in without a name", Own: true,
		New:   changes(responds("initialize"), replace(`"name":"Key"`, `"name":""`)),
		Finds: found("ACP-AUTH-001", "")},
	{Name: "offers_terminal", Does: "offers a method that needs a terminal to all clients",
		New: tells(is("initialize"), func(m *Message) {
			replace(`"clientCapabilities":{`, `"clientCapabilities":{"auth":{"terminal":true},`)(m)
			replace(`"capabilities":{}`, `"capabilities":{"auth":{"terminal":{}}}`)(m)
		}),
		Finds: found("ACP-AUTH-202", "")},
	{Name: "unknown_method_type", Does: "has a method to sign in of an unknown type", In: check.V2,
		New:   changes(responds("initialize"), replace(`"type":"agent"`, `"type":"browser"`)),
		Finds: found("ACP-AUTH-206", "")},
	{Name: "broken_variables", Does: "has variables that cannot be used", Own: true,
		New: changes(responds("initialize"), func(m *Message) {
			replace(`"env":{"MODE":"login"}`, `"env":{"MODE":5}`)(m)
			replace(`"env":[`, `"env":[{"name":"MODE","value":"other"},`)(m)
		}),
		Finds: found("ACP-AUTH-207", "")},
	{Name: "forgets_sign_in", Does: "demands a sign-in after one that has succeeded",
		New:   answersItself(is("session/new").after(`"methodId":"key"`), `"error":{"code":-32000,"message":"Authentication required"}`),
		Finds: found("ACP-AUTH-003", needSession+" ACP-ADDDIRS-001 AK-RPC-011 ACP-SESSION-001 ACP-SESSION-203")},
	{Name: "any_method", Does: "takes methods to sign in that it does not offer",
		New:   answersItself(func(_ *Wire, m *Message) bool { return m.has("acptest-no-such-method") }, empty),
		Finds: found("AK-AUTH-001", "")},
}

var ofVersion2 = []Defect{
	{Name: "late_receipts", Does: "answers a prompt when its turn has ended", In: check.V2,
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			var held []*Message
			ended := 0 // turns whose prompt has no response yet
			return nil, func(m *Message) {
				if m.Response && m.Method == "session/prompt" && m.has(`"result"`) {
					if ended > 0 {
						ended--
						w.ToCheck(m)
					} else {
						held = append(held, m)
					}
					return
				}
				w.ToCheck(m)
				if !m.has(`"stopReason"`) {
					return
				}
				if len(held) == 0 {
					ended++
				}
				for _, one := range held {
					w.ToCheck(one)
				}
				held = nil
			}
		},
		Finds: found("ACP-PROMPT-201", "")},
	{Name: "no_echo", Does: "does not send prompts back", In: check.V2,
		New: toCheck(func(w *Wire, m *Message) {
			if !m.has(`"user_message`) || w.sent("session/resume") > 0 {
				w.ToCheck(m)
			}
		}),
		Finds: found("ACP-PROMPT-203 AK-CANCEL-004 AK-CANCEL-005 AK-CANCEL-007", "AK-INSERT-001")},
	{Name: "same_message_ids", Does: "gives all prompts the same id", In: check.V2,
		New:   changes(responds("session/prompt", `"messageId"`), becomes(`{"messageId":"same"}`)),
		Finds: found("ACP-PATCH-203 ACP-PROMPT-203 AK-CANCEL-004 AK-CANCEL-005 AK-CANCEL-007", "AK-INSERT-001")},
	{Name: "never_running", Does: "does not report that it is running", In: check.V2,
		New:   drops(line(`"state":"running"`)),
		Finds: found("ACP-STATE-201", "")},
	{Name: "forgets_background", Does: "reports background work once", In: check.V2,
		New:   changes(line(`"idle"`), replace(`"background":`, `"_background":`)),
		Finds: found("AK-STATE-001", "")},
	{Name: "exchanges_prompts", Does: "exchanges prompts that wait", In: check.V2,
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			var held *Message
			return func(m *Message) {
				w.log = append(w.log, m)
				if n := len(w.log); n > 1 && w.in(w.log[n-2], "#stream") && m.Method == "session/prompt" {
					held = m
					return
				}
				w.ToPeer(m)
				if held != nil && w.sent(`"session/prompt"`) == 4 {
					w.ToPeer(held)
					held = nil
				}
			}, nil
		},
		Finds: found("AK-INSERT-001", "")},
	{Name: "untitled_tools", Does: "has tool calls without a title", Own: true, In: check.V2,
		New:   changes(is("session/update"), replace(`"title":"Look"`, `"title":null`)),
		Finds: found("ACP-PATCH-208", "")},
	{Name: "never_requires_action", Does: "does not report that it asks for permission", In: check.V2,
		New:   drops(line(`"requires_action"`)),
		Finds: found("ACP-PATCH-209", "")},
	{Name: "keeps_questions", Does: "does not cancel its questions", In: check.V2,
		New:   drops(line(`"$/cancel_request"`)),
		Finds: found("AK-PERM-008", "")},
	{Name: "unknown_kinds", Does: "has tool calls of a kind of its own", Own: true, In: check.V2,
		New:   changes(is("session/update"), replace(`"kind":"read"`, `"kind":"reading"`)),
		Finds: found("ACP-ENUM-201", "")},
	{Name: "cancels_any_tool", Does: "cancels tool calls that do not exist", In: check.V2,
		New:   answersItself(is("tool_call/cancel"), empty),
		Finds: found("AK-CANCEL-008", "")},
}
