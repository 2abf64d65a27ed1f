package defect

import "github.com/acpkit/go-sdk/acp/acptest/internal/check"

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
