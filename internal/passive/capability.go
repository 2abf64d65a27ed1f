package passive

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// place is where params or a result have a value that a rule is about.
type place struct {
	of    string // such as "session/prompt params", or opening
	path  string // names of members; * stands for each element of an array
	words string // that the rule is about; all if it is empty
}

// needed lists the capability that a value needs in each version; * stands for the value. The
// capabilities that whole methods need are in the table of methods.
var needed = []struct {
	place
	v1, v2 string
}{
	{place{"session/prompt params", "prompt.*.type", "image audio"}, "promptCapabilities.*", "session.prompt.*"},
	{place{"session/prompt params", "prompt.*.type", "resource"}, "promptCapabilities.embeddedContext", "session.prompt.embeddedContext"},
	{place{opening, "additionalDirectories.*", ""}, "sessionCapabilities.additionalDirectories", "session.additionalDirectories"},
	{place{opening, "mcpServers.*.type", "http acp sse"}, "mcpCapabilities.*", ""},
	{place{opening, "mcpServers.*.type", "http acp stdio"}, "", "session.mcp.*"},
	{place{opening, "systemPrompt", ""}, "sessionCapabilities.systemPrompt", "session.systemPrompt"},
	{place{opening, "systemPrompt.mode", "override"}, "sessionCapabilities.systemPrompt.mode.override", "session.systemPrompt.mode.override"},
	{place{"elicitation/create params", "mode", ""}, "elicitation.*", "elicitation.*"},
	{place{"session/update params", "update.sessionUpdate", "notice"}, "session.notices", ""},
	{place{"session/update params", "update.sessionUpdate", "compaction_update compaction_summary_chunk"}, "session.compaction", ""},
	{place{"session/update params", "update.sessionUpdate", "plan_update plan_removed"}, "plan", ""},
	{place{"session/update params", "update.sessionUpdate", "subagent_update session_message session_message_chunk"}, "subagents", ""},
}

// closed lists the values of version 1 that the schema does not leave open. The types of the SDK keep
// unknown values, so decoding does not find them.
var closed = []place{
	{"session/prompt result", "stopReason", "end_turn max_tokens max_turn_requests refusal cancelled"},
	{"session/update params", "update.sessionUpdate", "user_message_chunk agent_message_chunk agent_thought_chunk tool_call tool_call_update plan " +
		"available_commands_update current_mode_update config_option_update session_info_update usage_update notice compaction_update " +
		"compaction_summary_chunk plan_update plan_removed subagent_update session_message session_message_chunk"},
	{"session/request_permission result", "outcome.outcome", "cancelled selected"},
	{"elicitation/create result", "action", "accept decline cancel"},
}

// opening are the payloads of the requests that open a session.
const opening = "session/new params, session/load params, session/resume params, session/fork params"

// is reports whether the place is in the payload called what.
func (p *place) is(what string) bool {
	return p.of == what || p.of == opening && slices.Contains(strings.Split(opening, ", "), what)
}

func (p *place) has(word string) bool {
	return p.words == "" || slices.Contains(strings.Fields(p.words), word)
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

// needs reports the capabilities that a message needs and its receiver has not advertised.
func (c *Checker) needs(row *wire.Method, params []byte) {
	var paths []string
	for i := range needed {
		n := &needed[i]
		capability := []string{n.v1, n.v2}[c.version-1]
		if capability == "" || !n.is(row.Name+" params") {
			continue
		}
		for _, word := range values(params, n.path) {
			if n.has(word) {
				paths = append(paths, strings.ReplaceAll(capability, "*", word))
			}
		}
	}
	for _, path := range append(paths, row.Capability) {
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

// closedWords reports whether a payload has only known values in the places of closed. It reports a
// fault otherwise.
func (c *Checker) closedWords(what string, raw []byte) bool {
	for i := range closed {
		p := &closed[i]
		if c.version != 1 || !p.is(what) {
			continue
		}
		words := append(values(raw, p.path), "")
		if word := words[0]; word == "" || !p.has(word) {
			c.fault(badSchema, "The schema of version 1 does not allow the %s %.80q.", p.path[strings.LastIndexByte(p.path, '.')+1:], word)
			return false
		}
	}
	return true
}
