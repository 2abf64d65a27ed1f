package passive

import (
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// needs reports the capabilities that a message needs and its receiver has not advertised.
func (c *Checker) needs(row *wire.Method, params []byte) {
	paths := []string{row.Capability}
	switch row.Name {
	case "session/prompt":
		paths = append(paths, c.ofContent(params)...)
	case "session/new", "session/load", "session/resume", "session/fork":
		paths = append(paths, c.ofSession(params)...)
	case "elicitation/create":
		mode, _ := envelope.Text(envelope.Member(params, "mode"))
		paths = []string{"elicitation." + mode}
	case "session/update":
		paths = []string{c.ofUpdate(envelope.Member(params, "update"))}
	}
	for _, path := range paths {
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

// group returns the path of a group of agent capabilities, which differs between the versions.
func (c *Checker) group(v1, v2 string) string {
	if c.version == 2 {
		return v2
	}
	return v1
}

// ofContent returns the capabilities that the content of a prompt needs.
func (c *Checker) ofContent(params []byte) (paths []string) {
	prompt := c.group("promptCapabilities.", "session.prompt.")
	for _, kind := range types(envelope.Member(params, "prompt")) {
		switch kind {
		case "image", "audio":
			paths = append(paths, prompt+kind)
		case "resource":
			paths = append(paths, prompt+"embeddedContext")
		}
	}
	return paths
}

// ofSession returns the capabilities that the start of a session needs.
func (c *Checker) ofSession(params []byte) (paths []string) {
	session := c.group("sessionCapabilities.", "session.")
	if len(types(envelope.Member(params, "additionalDirectories"))) > 0 {
		paths = append(paths, session+"additionalDirectories")
	}
	for _, kind := range types(envelope.Member(params, "mcpServers")) {
		switch {
		case kind == "http", kind == "acp", kind == "sse" && c.version == 1, kind == "stdio" && c.version == 2:
			paths = append(paths, c.group("mcpCapabilities.", "session.mcp.")+kind)
		}
	}
	if system := envelope.Member(params, "systemPrompt"); !wire.Absent(system) {
		paths = append(paths, session+"systemPrompt")
		if mode, _ := envelope.Text(envelope.Member(system, "mode")); mode == "override" {
			paths = append(paths, session+"systemPrompt.mode.override")
		}
	}
	return paths
}

// ofUpdate returns the capability that an update needs. In version 2 none does.
func (c *Checker) ofUpdate(update []byte) string {
	if c.version == 2 {
		return ""
	}
	switch kind, _ := envelope.Text(envelope.Member(update, "sessionUpdate")); kind {
	case "notice":
		return "session.notices"
	case "compaction_update", "compaction_summary_chunk":
		return "session.compaction"
	case "plan_update", "plan_removed":
		return "plan"
	case "subagent_update", "session_message", "session_message_chunk":
		return "subagents"
	}
	return ""
}

// types returns the member type of each element of an array; "" for an element without one.
func types(array []byte) (kinds []string) {
	var elements []json.RawMessage
	if json.Unmarshal(array, &elements) != nil {
		return nil
	}
	for _, element := range elements {
		kind, _ := envelope.Text(envelope.Member(element, "type"))
		kinds = append(kinds, kind)
	}
	return kinds
}
