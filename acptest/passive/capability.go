package passive

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// needed lists the values in params and results that need a capability of the receiver, in each
// version. In a capability, * stands for the value. The capabilities that whole methods need are in
// the table of methods.
var needed = []struct {
	methods string
	path    string // names of members; * stands for each element of an array
	words   string // that need the capability; all if it is empty
	v1, v2  string
	result  bool // of values named configOptions: those in a result, which are not those in params
}{
	{"session/prompt", "prompt.*.type", "image audio", "promptCapabilities.*", "session.prompt.*", false},
	{"session/prompt", "prompt.*.type", "resource", "promptCapabilities.embeddedContext", "session.prompt.embeddedContext", false},
	{opening, "additionalDirectories.*", "", "sessionCapabilities.additionalDirectories", "session.additionalDirectories", false},
	{opening, "mcpServers.*.type", "http acp sse", "mcpCapabilities.*", "", false},
	{opening, "mcpServers.*.type", "http acp stdio", "", "session.mcp.*", false},
	{opening, "systemPrompt", "", "sessionCapabilities.systemPrompt", "session.systemPrompt", false},
	{opening, "systemPrompt.mode", "override", "sessionCapabilities.systemPrompt.mode.override", "session.systemPrompt.mode.override", false},
	{"elicitation/create", "mode", "", "elicitation.*", "elicitation.*", false},
	{opening + " session/set_config_option session/options", "configOptions.*.type", "boolean", "session.configOptions.boolean", "", true},
	{"session/update", "update.configOptions.*.type", "boolean", "session.configOptions.boolean", "", false},
	{"session/update", "update.sessionUpdate", "notice", "session.notices", "", false},
	{"session/update", "update.sessionUpdate", "compaction_update compaction_summary_chunk", "session.compaction", "", false},
	{"session/update", "update.sessionUpdate", "plan_update plan_removed", "plan", "", false},
	{"session/update", "update.sessionUpdate", "subagent_update session_message session_message_chunk", "subagents", "", false},
	{opening, "configOptions.*", "", "sessionCapabilities.options", "session.options", false},
	{"session/prompt", "prompt.*.type", "skill", "", "session.prompt.skill", false},
	{"session/update", "update.sessionUpdate", "prompt_suggestions_update", "session.promptSuggestions", "session.promptSuggestions", false},
	{"session/update", "update.suggestions.*.prompt.*.type", "image audio", "session.promptSuggestions.*", "session.promptSuggestions.*", false},
	{"session/update", "update.suggestions.*.prompt.*.type", "resource", "session.promptSuggestions.embeddedContext", "session.promptSuggestions.embeddedContext", false},
	{"session/update", "update.sessionUpdate", "cursor_update", "session.cursors", "", false},
	{"session/update", "update.availableCommands.*.type", "skill", "", "session.commands.skill", false},
}

// opening are the requests that open a session.
const opening = "session/new session/load session/resume session/fork"

// among reports whether a word is in a list, or the list is empty.
func among(list, word string) bool {
	return list == "" || slices.Contains(strings.Fields(list), word)
}

// values returns the texts that a path leads to, and "" for each value that is no text. Values that are
// null are left out.
func values(raw []byte, path string) (words []string) {
	name, rest, deeper := strings.Cut(path, ".")
	var list []json.RawMessage
	if name != "*" {
		list = append(list, envelope.Member(raw, name))
	} else if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, one := range list {
		switch word, _ := envelope.Text(one); {
		case wire.Absent(one):
		case deeper:
			words = append(words, values(one, rest)...)
		default:
			words = append(words, word)
		}
	}
	return words
}

// needs reports the capabilities that a message needs and its receiver has not advertised. payload is its
// params or its result, and own what a request of the method always needs.
func (c *Checker) needs(row *wire.Method, own string, payload []byte) {
	var paths []string
	for i := range needed {
		n := &needed[i]
		capability := []string{n.v1, n.v2}[c.version-1]
		if capability == "" || !among(n.methods, row.Name) {
			continue
		}
		if strings.HasPrefix(n.path, "configOptions.") && n.result != (c.from == Agent) {
			continue
		}
		for _, word := range values(payload, n.path) {
			if among(n.words, word) {
				paths = append(paths, strings.ReplaceAll(capability, "*", word))
			}
		}
	}
	for _, path := range append(paths, own) {
		if path != "" && !has(c.caps[c.from.peer()], path) {
			c.fault(unadvertised, "%.80q needs the capability %.80s, which the %s did not advertise.", row.Name, path, c.from.peer())
			return
		}
	}
}

// has reports whether capabilities contain what a path of member names leads to: true or an object.
func has(caps []byte, path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		caps = envelope.Member(caps, name)
	}
	return len(caps) > 0 && caps[0] == '{' || string(caps) == "true"
}
