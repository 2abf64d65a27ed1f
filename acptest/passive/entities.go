package passive

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// terminal is a terminal of a client, in version 1.
type terminal struct {
	session  string
	released bool
}

// terminalUsed judges a request of the agent that is about a terminal.
func (c *Checker) terminalUsed(one *call, params []byte) {
	id, ok := envelope.Text(envelope.Member(params, "terminalId"))
	if !ok || c.blind || c.version != 1 {
		return
	}
	switch t := c.terminals[id]; {
	case t == nil || t.session != one.session:
		c.fault(badTerminal, "The session has no terminal %.80q: the client has created none.", id)
	case t.released:
		c.fault(badTerminal, "The terminal %.80q was released.", id)
	case one.method == "terminal/release":
		t.released = true
	}
}

// terminalMade notes a terminal that the client has created.
func (c *Checker) terminalMade(session string, result []byte) {
	id, ok := envelope.Text(envelope.Member(result, "terminalId"))
	switch {
	case !ok:
	case c.terminals[id] == nil && len(c.terminals) >= terminalsAtMost:
		c.blind = true
	default:
		c.terminals[id] = &terminal{session: session}
	}
}

// background follows the work that a state of version 2 reports. What it lists was announced.
func (c *Checker) background(s *session, update []byte) {
	raw := envelope.Member(update, "background")
	var list []struct{ Type, ToolCallID, TerminalID, SessionID string }
	reports := json.Unmarshal(raw, &list) == nil && list != nil
	if s.reports && !reports {
		c.fault(badBackground, "The state does not report background work, as an earlier one did.")
	}
	s.reports = reports
	for _, b := range list {
		known, id := true, b.ToolCallID+b.TerminalID+b.SessionID
		switch b.Type {
		case "tool_call":
			known = s.announced["tool_call "+id]
		case "terminal":
			known = s.announced["terminal "+id]
		case "subagent":
			known = c.sessions[id] != nil
		}
		if !known && !c.blind && !s.full() {
			c.fault(badBackground, "The state lists the %s %.80q, which was not announced before.", b.Type, id)
		}
	}
}

// announce notes a tool call or a terminal of version 2.
func (c *Checker) announce(s *session, kind, id string) {
	if c.version == 2 && !s.full() {
		s.announced[kind+" "+id] = true
	}
}

func (s *session) full() bool { return len(s.announced) >= toolsAtMost }

// begins notes that a turn begins: what it says belongs to messages of its own.
func (s *session) begins() {
	for id := range s.fresh {
		if len(s.former) < saidAtMost {
			s.former[id] = true
		}
	}
	clear(s.fresh)
}

// piece judges a piece of a message of the agent. One that goes on in a message of an earlier turn is shown
// there.
func (c *Checker) piece(s *session, kind string, update []byte) {
	id, ok := envelope.Text(envelope.Member(update, "messageId"))
	if !ok || s.loading > 0 || c.version == 1 && s.prompts == 0 || c.blind {
		return
	}
	if id = kind + " " + id; !s.former[id] {
		s.fresh[id] = true
		return
	}
	delete(s.former, id) // told once
	c.fault(formerMessage, "The piece belongs to the message of an earlier turn, which has the id %.80q.", id[len(kind)+1:])
}
