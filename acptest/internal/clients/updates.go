package clients

// sent is an update of a session.
type sent struct {
	kind    string
	members []any
}

// blocks are content of each type, with the members that it must have, and with all.
func blocks() []any {
	notes := object("audience", []string{"user"}, "priority", 0.5, "lastModified", "2026-01-02T03:04:05Z")
	return []any{
		object("type", "text", "text", ""),
		object("type", "text", "text", "text", "annotations", nil, "_meta", nil),
		object("type", "text", "text", "text", "annotations", notes),
		object("type", "image", "data", "AA==", "mimeType", "image/png"),
		object("type", "audio", "data", "AA==", "mimeType", "audio/wav"),
		object("type", "resource_link", "name", "a.txt", "uri", "file:///a.txt"),
		object("type", "resource_link", "name", "a.txt", "uri", "file:///a.txt", "title", nil, "description", "A file", "mimeType", "text/plain", "size", 5),
		object("type", "resource", "resource", object("uri", "file:///a.txt", "text", "a")),
		object("type", "resource", "resource", object("uri", "file:///a.bin", "blob", "AA==", "mimeType", nil)),
	}
}

// everyUpdate returns updates of each kind that needs no capability.
func everyUpdate(version int, dir string) (all []sent) {
	add := func(kind string, members ...any) { all = append(all, sent{kind, members}) }
	for _, kind := range []string{"user_message_chunk", "agent_thought_chunk", "agent_message_chunk"} {
		for _, block := range blocks() {
			if version == 2 {
				add(kind, "messageId", "acptest-"+kind, "content", block)
			} else {
				add(kind, "content", block)
			}
		}
	}
	var wrapped []any
	for _, block := range blocks() {
		wrapped = append(wrapped, object("type", "content", "content", block))
	}
	places := []any{object("path", dir), object("path", dir, "line", nil), object("path", dir, "line", 7)}
	full := []any{"title", "Look", "kind", "search", "status", "in_progress", "content", wrapped, "locations", places, "rawInput", []any{1}, "rawOutput", "text"}
	if version == 1 {
		diffs := []any{object("type", "diff", "path", dir, "newText", "new"), object("type", "diff", "path", dir, "oldText", nil, "newText", ""), object("type", "diff", "path", dir, "oldText", "old", "newText", "new")}
		add("tool_call", "toolCallId", "acptest-least", "title", "Look")
		add("tool_call", append([]any{"toolCallId", "acptest-most"}, full...)...)
		add("tool_call_update", "toolCallId", "acptest-least", "content", diffs)
		add("plan", "entries", []any{})
		add("plan", "entries", []any{object("content", "Look", "priority", "low", "status", "pending")})
		add("current_mode_update", "currentModeId", "acptest-mode")
	} else {
		add("tool_call_update", append([]any{"toolCallId", "acptest-most"}, full...)...)
		add("tool_call_content_chunk", "toolCallId", "acptest-most", "content", wrapped[0])
		add("agent_message", "messageId", "acptest-message", "content", nil)
		add("agent_thought", "messageId", "acptest-thought")
		add("user_message", "messageId", "acptest-user", "content", blocks())
		add("plan_update", "plan", object("type", "items", "planId", "acptest-plan", "entries", []any{}))
		add("terminal_update", "terminalId", "acptest-terminal")
		add("terminal_output_chunk", "terminalId", "acptest-terminal", "data", "w7Y=")
		add("terminal_update", "terminalId", "acptest-terminal", "exitStatus", object())
		add("notice", "severity", "info", "title", "News")
		add("state_update", "state", "running")
	}
	for _, id := range []string{"acptest-least", "acptest-most"} {
		add("tool_call_update", "toolCallId", id)
		add("tool_call_update", "toolCallId", id, "status", "completed", "rawOutput", nil)
	}
	add("available_commands_update", "availableCommands", []any{})
	add("available_commands_update", "availableCommands", []any{
		object("type", "command", "name", "least", "description", ""),
		object("type", "command", "name", "most", "description", "Look", "input", object("type", "text", "hint", "what")),
	})
	value := object("value", "a", "name", "A")
	add("config_option_update", "configOptions", []any{
		object("id", "flat", "configId", "flat", "name", "Flat", "type", "select", "currentValue", "a", "options", []any{value}),
		object("id", "grouped", "configId", "grouped", "name", "Grouped", "description", nil, "category", "model", "type", "select", "currentValue", "a",
			"options", []any{object("group", "g", "groupId", "g", "name", "G", "options", []any{value})}),
	})
	add("session_info_update")
	add("session_info_update", "title", nil, "updatedAt", "2026-01-02T03:04:05Z")
	add("usage_update", "used", 0, "size", 0)
	add("usage_update", "used", 1, "size", 2, "cost", object("amount", 0.5, "currency", "USD"))
	return all
}
