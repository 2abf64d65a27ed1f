package passive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// cursorsAtMost is how many cursors of a session are remembered.
const cursorsAtMost = 1 << 10

// saidAtMost is how many messages of a session are remembered.
const saidAtMost = 1 << 12

// marker follows the end of a replay.
func (c *Checker) marker(s *session) {
	s.marked++
	switch {
	case s.marked > 1 && (s.replaying || s.loading > 0):
		c.fault(replay, "The end of the replay is told for the second time.")
	case !s.replaying && !c.blind:
		c.fault(replay, "The end of a replay is told, and none was asked for.")
	}
}

// replayed follows the response to a request that opens a session again.
func (c *Checker) replayed(s *session, ok bool) {
	if c.version != 2 || !s.replaying {
		return
	}
	c.replayEnded(s, ok, "")
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if child := c.sessions[id]; child.root == s {
			c.replayEnded(child, ok, fmt.Sprintf(" of the session %.80q, which the history announces,", id))
			child.root = nil
		}
	}
}

// replayEnded judges whether the end of a replay was told when the response has come.
func (c *Checker) replayEnded(s *session, ok bool, of string) {
	switch {
	case c.blind:
	case ok && s.marked == 0:
		c.fault(replay, "The request session/resume is answered, and the end of the replay%s was not told.", of)
	case !ok && s.marked > 0:
		c.fault(replay, "The end of a replay%s was told that has failed.", of)
	}
	s.replaying = false
}

// child notes a session that another one has announced. If that is replayed, it has a replay too.
func (c *Checker) child(s *session, id string) {
	child := c.session(id)
	if s.replaying && s.marked == 0 && !child.replaying {
		child.replaying, child.marked, child.root = true, 0, cmp.Or(s.root, s)
		if child.busy() {
			clear(child.said)
		}
	}
}

// spoken follows a message. One that came before the replay was asked for is history, whose end it must
// not follow.
func (c *Checker) spoken(s *session, update []byte) {
	id, ok := envelope.Text(envelope.Member(update, "messageId"))
	switch {
	case c.version != 2 || !ok:
	case !s.replaying:
		if len(s.said) < saidAtMost {
			s.said[id] = true
		}
	case s.marked > 0 && s.said[id] && !c.blind:
		c.fault(replay, "The message %.80q is replayed behind the end of the replay.", id)
	}
}

// cursor follows a place in a session.
func (c *Checker) cursor(s *session, update []byte) {
	if c.version == 1 && !has(c.caps[Client], "session.cursors") {
		return // it may not be told at all
	}
	id, _ := envelope.Text(envelope.Member(update, "cursorId"))
	anchor, caps := envelope.Member(update, "anchor"), envelope.Member(update, "capabilities")
	one := s.cursors[id]
	switch {
	case one == nil && anchor == nil && !c.blind:
		c.fault(badCursor, "The first update of the cursor %.80q has no anchor.", id)
	case one == nil:
		one = &cursor{anchor: canonical(anchor)}
		if len(s.cursors) < cursorsAtMost {
			s.cursors[id] = one
		}
	case anchor != nil && one.anchor != canonical(anchor):
		c.fault(badCursor, "The anchor of the cursor %.80q has changed.", id)
	}
	if one != nil && caps != nil {
		fork := envelope.Member(caps, "fork")
		one.forks = len(fork) > 0 && fork[0] == '{'
	}
}

// canonical returns JSON in one spelling.
func canonical(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	b, _ := json.Marshal(v) // it was JSON
	return string(b)
}

// forking judges the cursor of a session/fork.
func (c *Checker) forking(one *call, params []byte) {
	id, ok := envelope.Text(envelope.Member(params, "cursorId"))
	if one.method != "session/fork" || !ok || c.blind {
		return
	}
	if s := c.sessions[one.session]; s == nil || s.cursors[id] == nil || !s.cursors[id].forks {
		c.fault(badCursor, "The session cannot be forked at %.80q: no such cursor was told, or not that it can be forked.", id)
	}
}

// systemPrompt judges the system prompt of a request that opens a session.
func (c *Checker) systemPrompt(params []byte) {
	prompt := envelope.Member(params, "systemPrompt")
	if wire.Absent(prompt) {
		return
	}
	kinds := values(prompt, "content.*.type")
	if len(kinds) == 0 {
		c.fault(badSystem, "The system prompt is empty.")
	}
	for _, kind := range kinds {
		if kind != "text" {
			c.fault(badSystem, "The system prompt has a block of the type %.80q.", kind)
			return
		}
	}
}

// suggestions judges prompts that the agent suggests.
func (c *Checker) suggestions(update []byte) {
	var list struct {
		Suggestions []struct {
			Prompt []struct{ Type, Text string }
		}
	}
	_ = json.Unmarshal(update, &list) // the schema is judged elsewhere
	for _, one := range list.Suggestions {
		blank := true
		for _, block := range one.Prompt {
			blank = blank && block.Type == "text" && strings.TrimSpace(block.Text) == ""
		}
		if blank {
			c.fault(badSuggest, "A suggestion is blank.")
			return
		}
		for _, block := range one.Prompt {
			bit := promptBit(c.version, block.Type)
			if bit != "" && !has(c.caps[Agent], bit) && !c.blind {
				c.fault(badSuggest, "A suggestion has a block of the type %s, and the agent does not advertise %s.", block.Type, bit)
				return
			}
		}
	}
}

// promptBit returns the capability of an agent that takes such a block in prompts, or "".
func promptBit(version int, kind string) string {
	if kind == "resource" {
		kind = "embeddedContext"
	} else if kind != "image" && kind != "audio" {
		return ""
	}
	if version == 2 {
		return "session.prompt." + kind
	}
	return "promptCapabilities." + kind
}

// signIn judges what the agent tells of the sign-in unasked. A response to auth/status may tell the same
// shortly before.
func (c *Checker) signIn(params []byte) {
	now := canonical(params)
	switch {
	case !has(c.caps[Agent], "auth.status") && !c.blind:
		c.fault(badStatus, "The agent tells the state of the sign-in, and does not advertise auth.status.")
	case now == c.signedIn && !c.blind:
		c.fault(badStatus, "The state of the sign-in is told again, and has not changed.")
	}
	c.signedIn = now
}

// listed judges the commands of a session.
func (c *Checker) listed(update []byte) {
	for _, kind := range values(update, "availableCommands.*.type") {
		if kind == "skill" && c.version == 2 && has(c.caps[Client], "session.commands.skill") && !has(c.caps[Agent], "session.prompt.skill") {
			c.fault(badSkill, "The agent lists skills, and does not advertise session.prompt.skill.")
			return
		}
	}
}

// skills judges the skills in a prompt.
func (c *Checker) skills(params []byte) {
	if c.version != 2 || has(c.caps[Agent], "session.prompt.skill.inline") {
		return
	}
	for i, kind := range values(params, "prompt.*.type") {
		if kind == "skill" && i > 0 {
			c.fault(badSkill, "A skill is not the first block of the prompt, and the agent does not advertise session.prompt.skill.inline.")
			return
		}
	}
}
