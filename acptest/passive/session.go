package passive

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/wire"
)

// session is what a Checker remembers of a session.
type session struct {
	prompts  int              // version 1: prompts in flight
	loading  int              // loads in flight, whose updates are history
	ended    string           // version 1: the method whose response ended the latest turn or replay
	late     bool             // version 1: a message after that response was reported already
	canceled bool             // version 1: session/cancel was sent in the turn
	deleted  bool             // session/delete was answered: its turns may fail
	running  bool             // version 2: as the agent reported
	stated   bool             // version 2: a state was reported since the latest resume was sent
	closed   bool             // version 2: session/close was answered
	tools    map[string]*tool // of the turn in progress; in version 2 also those in the background
	past     map[string]bool  // version 1: the tool calls of turns that have ended

	modes     []string        // version 1: those that are offered; nil if they are not known
	reports   bool            // version 2: the latest state has reported background work
	announced map[string]bool // version 2: tool calls and terminals
	fresh     map[string]bool // the ids of messages of the agent in the turn in progress, with their kinds
	former    map[string]bool // those of the turns before it

	replaying bool               // version 2: a replay was asked for, or goes on in the session of a parent
	marked    int                // version 2: how many markers of its end have come
	root      *session           // version 2: the session whose replay has announced it
	said      map[string]bool    // version 2: the ids of the messages that came before the replay
	cursors   map[string]*cursor // by id
}

// cursor is a place in a session.
type cursor struct {
	anchor string
	forks  bool
}

// tool is a tool call.
type tool struct {
	seq     int64 // of its newest message
	status  string
	created bool // version 1: tool_call has come
}

func (t *tool) open() bool { return !fold.Final(t.status) }

func (s *session) busy() bool { return s.prompts > 0 || s.running }

// session returns the state of a session, which it creates.
func (c *Checker) session(id string) *session {
	s := c.sessions[id]
	if s == nil {
		s = &session{tools: map[string]*tool{}, past: map[string]bool{}, said: map[string]bool{}, cursors: map[string]*cursor{},
			announced: map[string]bool{}, fresh: map[string]bool{}, former: map[string]bool{}}
		if len(c.sessions) < sessionsAtMost {
			c.sessions[id] = s
		} else {
			c.blind = true
		}
	}
	return s
}

// initialize notes what the client offers.
func (c *Checker) initialize(e *envelope.Envelope) {
	asked := protocolVersion(e.Params)
	if c.version == 2 && (c.worked || asked < 2) {
		c.fault(initAgain, "A connection of version 2 is initialized again only before any other request, and with version 2 or newer.")
	}
	c.initializing++
	c.asked = asked
	c.caps[Client] = envelope.Member(e.Params, "clientCapabilities")
	if asked >= 2 {
		c.caps[Client] = envelope.Member(e.Params, "capabilities")
	}
	c.caps[Client] = slices.Clone(c.caps[Client])
}

// initialized notes what was negotiated.
func (c *Checker) initialized(e *envelope.Envelope) {
	c.initializing--
	if e.Kind != envelope.KindResponse {
		return
	}
	v := protocolVersion(e.Result)
	c.version = 1
	caps := envelope.Member(e.Result, "agentCapabilities")
	switch {
	case v == 2 && envelope.Member(e.Result, "info") != nil:
		c.version, caps = 2, envelope.Member(e.Result, "capabilities")
	case v != 1 && v != 2:
		c.fault(badVersion, "The agent chose version %d, which does not exist.", v)
	}
	c.caps[Agent] = slices.Clone(caps)
}

// asking follows a request that is in flight now.
func (c *Checker) asking(one *call, params []byte) {
	if c.from == Agent {
		if one.session != "" {
			s := c.named(one.session)
			c.asksLate(s, one.method)
			if one.method == "session/request_permission" {
				c.permission(s, params)
			}
		}
		if strings.HasPrefix(one.method, "terminal/") {
			c.terminalUsed(one, params)
		}
		return
	}
	c.addressed(one.method, one.session)
	if among(opening, one.method) {
		c.systemPrompt(params)
	}
	switch one.method {
	case "session/new", "session/fork":
		c.starting++
		c.forking(one, params)
	case "session/prompt":
		s := c.session(one.session)
		c.skills(params)
		if c.version == 1 && s.prompts == 0 {
			s.begins()
		}
		s.prompts++
		s.canceled = false
	case "session/load", "session/resume":
		s := c.session(one.session)
		s.loading++
		s.closed, s.stated, s.ended = false, false, ""
		if s.replaying, s.marked = one.method == "session/resume" && !wire.Absent(envelope.Member(params, "replayFrom")), 0; s.busy() || len(s.tools) > 0 {
			clear(s.said) // what goes on may add to any message
		}
	case "session/set_mode":
		if id, ok := envelope.Text(envelope.Member(params, "modeId")); ok {
			c.mode(c.session(one.session), id)
		}
	default:
		if one.session != "" {
			c.session(one.session)
		}
	}
}

// inSession are the requests and notifications of a client that are about a session which it has opened.
const inSession = "session/prompt session/cancel session/set_mode session/set_config_option tool_call/cancel terminal/cancel"

// addressed judges the session that the client names.
func (c *Checker) addressed(method, id string) {
	if c.version != 0 && !c.blind && among(inSession, method) && c.sessions[id] == nil {
		c.fault(unknown, "The session %.80q is unknown: no request or response has named it.", id)
	}
}

// asks are the requests that an agent sends for the work of a turn.
const asks = "session/request_permission fs/read_text_file fs/write_text_file terminal/create"

// asksLate judges a request of the agent that comes when the turn is over.
func (c *Checker) asksLate(s *session, method string) {
	if c.version == 1 && among(asks, method) && s.ended == "session/prompt" && s.prompts == 0 && s.loading == 0 {
		c.fault(late, "%.80q comes after the response to %s, outside any turn.", method, s.ended)
	}
}

// named returns the session that the agent names.
func (c *Checker) named(id string) *session {
	s := c.sessions[id]
	switch {
	case s == nil && c.starting == 0 && !c.blind && c.version != 0:
		c.fault(unknown, "The session %.80q is unknown: no request or response has named it.", id)
	case s != nil && s.closed:
		c.fault(afterClose, "The session %.80q was closed.", id)
	}
	return c.session(id)
}

// answered follows the response to a request.
func (c *Checker) answered(one *call, e *envelope.Envelope) {
	ok := e.Kind == envelope.KindResponse
	switch one.method {
	case "session/new", "session/fork":
		if one.row != nil && c.from == Agent {
			c.starting--
			if id := envelope.SessionID(e.Result); ok && !wire.Absent(envelope.Member(e.Result, "sessionId")) {
				c.offered(c.session(id), e.Result)
			}
		}
	case "session/request_permission":
		kind, _ := envelope.Text(envelope.Member(envelope.Member(e.Result, "outcome"), "outcome"))
		if one.cancelled && ok && kind != "cancelled" {
			c.fault(notCancelled, "The turn was cancelled while the permission request was pending, so its outcome must be \"cancelled\".")
		}
	}
	if c.from == Client {
		if one.method == "terminal/create" && ok {
			c.terminalMade(one.session, e.Result)
		}
		return
	}
	if among("session/load session/resume session/set_config_option session/options", one.method) && ok {
		c.offered(c.sessions[one.session], e.Result)
	}
	if among(opening, one.method) && ok {
		c.commands(e.Result)
	}
	s := c.sessions[one.session]
	if s == nil {
		return
	}
	switch one.method {
	case "session/prompt":
		s.prompts--
		if c.version == 1 {
			c.turnEnded(s, e)
		}
	case "session/load", "session/resume":
		s.loading--
		c.replayed(s, ok)
		if ok && c.version == 2 && !s.stated {
			c.fault(noState, "The agent must report the state of the session before it answers session/resume.")
		}
		if !s.busy() {
			clear(s.tools) // of the history
		}
		if ok && one.method == "session/load" {
			s.ended, s.late = one.method, false
		}
	case "session/close":
		s.closed = ok && c.version == 2
	case "session/delete":
		s.deleted = ok
	}
}

// turnEnded follows the end of a turn of version 1.
func (c *Checker) turnEnded(s *session, e *envelope.Envelope) {
	var failed struct{ Code int }
	if e.Kind == envelope.KindErrorResponse && json.Unmarshal(e.Error, &failed) == nil && s.canceled && !s.deleted &&
		(failed.Code == -32800 || failed.Code == -32603) {
		c.fault(cancelFailed, "The turn was cancelled, so its prompt must be answered with the stop reason \"cancelled\", not with the error %d.", failed.Code)
	}
	reason, _ := envelope.Text(envelope.Member(e.Result, "stopReason"))
	if s.prompts > 0 {
		return
	}
	s.ended, s.late = "session/prompt", false
	if e.Kind == envelope.KindResponse && reason != "cancelled" { // the client shows the others as cancelled
		s.reportOpen(c, c.at, "The turn ended")
	}
	for id := range s.tools {
		if len(s.past) < toolsAtMost {
			s.past[id] = true
		}
	}
	clear(s.tools)
}

// reportOpen reports the tool calls that are open, as a fault of the message with the number at. If at
// is 0, it is a fault of the newest message of an open call.
func (s *session) reportOpen(c *Checker, at int64, when string) {
	var names []string
	newest := at
	for _, id := range slices.Sorted(maps.Keys(s.tools)) {
		if one := s.tools[id]; one.open() {
			names = append(names, strconv.Quote(id)+" is "+one.status)
			newest = max(newest, one.seq)
		}
	}
	if names != nil {
		c.faultAt(newest, Agent, openCalls, "%s while tool calls are open: %.300s.", when, strings.Join(names, ", "))
	}
}

// told follows a notification.
func (c *Checker) told(method string, params []byte) {
	id := envelope.SessionID(params)
	switch {
	case method == "session/cancel" && c.from == Client:
		c.addressed(method, id)
		s := c.session(id)
		s.canceled = s.prompts > 0
		for one := range maps.Values(c.calls[Agent].open) {
			one.cancelled = one.cancelled || one.session == id && c.version == 1
		}
	case method == "auth/status_update" && c.from == Agent:
		c.signIn(params)
	case method == "session/update" && c.from == Agent && id != "":
		c.updated(c.named(id), envelope.Member(params, "update"))
	}
}

// updated follows an update.
func (c *Checker) updated(s *session, update []byte) {
	kind, _ := envelope.Text(envelope.Member(update, "sessionUpdate"))
	outside := c.version == 1 && s.ended != "" && s.prompts == 0 && s.loading == 0
	switch kind {
	case "user_message", "agent_message", "agent_thought", "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		c.spoken(s, update)
		if kind == "agent_message_chunk" || kind == "agent_thought_chunk" {
			c.piece(s, kind, update)
		}
		if outside && !s.late {
			s.late = true
			c.fault(late, "A message comes after the response to %s, outside any turn.", s.ended)
		}
	case "tool_call", "tool_call_update":
		id, _ := envelope.Text(envelope.Member(update, "toolCallId"))
		if c.version == 1 && kind == "tool_call_update" && s.prompts > 0 && s.tools[id] == nil && !s.past[id] && !c.blind {
			c.fault(uncreated, "The tool call %.80q is changed before it was created.", id)
		}
		if outside || c.version == 1 && kind == "tool_call_update" && s.past[id] && s.loading == 0 {
			c.fault(late, "The tool call %.80q is changed after the response that ended its turn.", id)
			return
		}
		if kind == "tool_call" {
			delete(s.past, id)
		}
		c.announce(s, "tool_call", id)
		if c.version == 1 && kind == "tool_call" && s.tools[id] != nil && s.tools[id].created {
			c.fault(again, "The tool call %.80q is created for the second time in its turn.", id)
		}
		c.changed(s, id, envelope.Member(update, "status"))
		if one := s.tools[id]; one != nil && kind == "tool_call" {
			one.created = true
		}
	case "terminal_update":
		id, _ := envelope.Text(envelope.Member(update, "terminalId"))
		c.announce(s, "terminal", id)
	case "current_mode_update":
		if id, ok := envelope.Text(envelope.Member(update, "currentModeId")); ok {
			c.mode(s, id)
		}
	case "config_option_update":
		c.offered(nil, update)
	case "subagent_update":
		if child := envelope.SessionID(update); child != "" {
			c.child(s, child)
		}
	case "replay_complete":
		c.marker(s)
	case "cursor_update":
		c.cursor(s, update)
	case "prompt_suggestions_update":
		c.suggestions(update)
	case "available_commands_update":
		c.listed(update)
		c.commands(update)
	case "state_update":
		c.stateChanged(s, update)
	}
}

// changed notes the state of a tool call. A status that is absent is kept; in version 2, null
// resets it. In version 1 the calls of
// a replay, and those outside a turn, have no turn that could end.
func (c *Checker) changed(s *session, id string, raw []byte) {
	one := s.tools[id]
	if one == nil {
		if len(s.tools) == toolsAtMost || c.version == 1 && s.prompts == 0 {
			return
		}
		one = &tool{status: "pending"}
		s.tools[id] = one
	}
	one.seq = c.at
	status, _ := envelope.Text(raw)
	if status != "" && status != one.status && !one.open() {
		c.fault(again, "The tool call %.80q is %.80q after it was %s.", id, status, one.status)
	}
	if c.version == 2 && string(raw) == "null" {
		status = "pending"
	}
	fold.Set(&one.status, fold.Text(status))
}

// permission notes the tool call that a permission request is about.
func (c *Checker) permission(s *session, params []byte) {
	call := envelope.Member(params, "toolCall")
	if c.version == 2 {
		call = envelope.Member(envelope.Member(params, "subject"), "toolCall")
	}
	if id, ok := envelope.Text(envelope.Member(call, "toolCallId")); ok {
		c.announce(s, "tool_call", id)
		c.changed(s, id, envelope.Member(call, "status"))
	}
}

// stateChanged follows the state of a session of version 2.
func (c *Checker) stateChanged(s *session, update []byte) {
	s.stated = true
	c.background(s, update)
	state, _ := envelope.Text(envelope.Member(update, "state"))
	if !s.running && state == "running" && s.loading == 0 {
		s.begins()
	}
	s.running = state != "idle"
	if s.running || s.loading > 0 {
		return
	}
	var idle struct {
		StopReason string
		Background []struct{ Type, ToolCallID string }
	}
	if json.Unmarshal(update, &idle) != nil || idle.Background == nil || idle.StopReason == "cancelled" {
		clear(s.tools) // which of them go on in the background is not reported
		return
	}
	background := map[string]*tool{}
	for _, b := range idle.Background {
		if one := s.tools[b.ToolCallID]; one != nil {
			background[b.ToolCallID] = one
			delete(s.tools, b.ToolCallID)
		}
	}
	s.reportOpen(c, c.at, "The session became idle")
	s.tools = background
}
