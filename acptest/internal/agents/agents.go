// Package agents has the checks of agents.
package agents

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// Suite returns the checks of agents.
func Suite() check.Suite {
	return check.Suite{Role: check.AgentRole, Hello: hello, Control: control,
		Checks: slices.Concat(starting, initializing, jsonrpc, ids, passiveRules, ordering, sessions, listing, reopening, prompts, cancelling,
			permission, clientSide, settings, signingIn, failing, sizes, version2, november, network)}
}

// newest is the newest version that is checked.
const newest = 2

// initParams returns the params of initialize for a version. They have the members of both
// versions, as those of a client that speaks both.
func initParams(version int) map[string]any {
	info := map[string]any{"name": "acptest", "version": "1"}
	return map[string]any{
		"protocolVersion": version,
		"info":            info, "capabilities": map[string]any{},
		"clientInfo": info, "clientCapabilities": map[string]any{
			"fs": map[string]any{"readTextFile": true, "writeTextFile": true}, "terminal": true,
		},
	}
}

func hello(t *check.T) {
	p := t.Connect()
	m := p.Start("initialize", initParams(cmp.Or(t.Version, newest))).Result()
	got := check.Get[int](&m, "protocolVersion")
	known := (got == 1 || got == 2) && (t.Version == 0 || got == t.Version)
	t.Requires(known, "The agent answered version %d, which is not checked.", got)
	if got == 2 && t.Version == 0 && check.At(m.Result, "info") == nil && check.At(m.Result, "agentCapabilities") != nil {
		got = 1 // it echoes the version, which is the subject of a check, and speaks version 1
	}
	t.Version, t.Init = got, m.Result
	t.Caps = check.At(m.Result, map[int]string{1: "agentCapabilities", 2: "capabilities"}[got])
	probes := []check.Probe{{Method: "_acptest/ping", Params: map[string]any{}}}
	if t.Has("sessionCapabilities.list | session") {
		probes = append(probes, check.Probe{Method: "session/list", Params: map[string]any{}})
	}
	p.FindProbe(append(probes, check.Probe{Method: "session/new", Params: newParams(t)})...)
	t.Blocked = blocked(t, p)
}

// blocked says why no session can be started, and what to pass.
func blocked(t *check.T, p *check.Peer) string {
	if t.Version == 2 && !t.Has("session") {
		return ""
	}
	var ways []string
	for _, m := range check.Get[[]method](&check.Message{Result: t.Init}, "authMethods") {
		ways = append(ways, fmt.Sprintf("%.80q", m.id()))
	}
	pass := "It names no method to sign in: sign it in by hand, or give it what it needs by -env NAME=VALUE or -cwd FOLDER."
	if ways != nil {
		pass = "Pass -auth METHOD (" + strings.Join(ways, ", ") + "), or what it needs to be signed in by -env NAME=VALUE, or sign it in by hand."
	}
	if t.Opts.Auth != "" {
		if m, ok := p.Start(signInBy[t.Version], map[string]any{"methodId": t.Opts.Auth}).Arrives(); !ok || m.Error != nil {
			return fmt.Sprintf("The sign-in by %q failed%s. %s", t.Opts.Auth, because(m), pass)
		}
	}
	if m, ok := p.Start("session/new", newParams(t)).Arrives(); !ok || m.Error != nil {
		return fmt.Sprintf("session/new failed%s, so nothing that needs a session was checked. %s", because(m), pass)
	}
	return ""
}

func because(m check.Message) string {
	if m.Error == nil {
		return ": it was not answered"
	}
	return fmt.Sprintf(" with %d (%s)", m.Error.Code, m.Error.Message)
}

// signInBy is the method by which a user signs in, in each version.
var signInBy = map[int]string{1: "authenticate", 2: "auth/login"}

// control states a verdict if the agent does not answer on a new connection.
func control(t *check.T) { t.RequiresTime(begin(t).Answers(), "A response did not come") }

// session is a session that a check has begun.
type session struct {
	*check.Peer
	t   *check.T
	id  string
	new check.Message // the response to session/new

	resumed  int           // where in the log the session was opened again
	call     *check.Call   // the last prompt of turn, works or provoke
	question check.Message // the request that provoke has awaited
	end      check.Message // what ended the last turn
	turns    int           // that have ended
}

// begin connects and sends initialize.
func begin(t *check.T) *check.Peer { return beginAs(t, initParams(t.Version)) }

func beginAs(t *check.T, params map[string]any) *check.Peer {
	var p *check.Peer
	t.Works(func() {
		p = t.Connect()
		p.Start("initialize", params).Result()
		signIn(t, p)
	})
	return p
}

// signIn signs the user in, if a method is known.
func signIn(t *check.T, p *check.Peer) {
	if t.Opts.Auth != "" {
		t.Works(func() { p.Start(signInBy[t.Version], map[string]any{"methodId": t.Opts.Auth}).Result() })
	}
}

// open connects and starts a session of a client that gives permission, has an empty folder, and
// whose commands succeed.
func open(t *check.T) *session { return start(t, serving(t, map[string]any{"exitCode": 0})) }

// serving connects as a client that gives permission, has an empty folder, and whose commands end
// at once with exit. A command that sleeps, or any if exit is NoAnswer, lasts until its terminal is
// killed or released.
func serving(t *check.T, exit any) *check.Peer {
	p := begin(t)
	p.Handle("session/request_permission", allow)
	p.Handle("fs/read_text_file", func(check.Message) any { return notFound })
	p.Handle("fs/write_text_file", func(check.Message) any { return map[string]any{} })
	var commands sync.Map // terminal id to command
	p.Handle("terminal/create", func(m check.Message) any {
		id, c := fmt.Sprintf("acptest-%d", m.Seq), command{}
		c.ended, c.end = context.WithCancel(t.Context())
		if exit != check.NoAnswer && !bytes.Contains(m.Params, []byte("sleep")) {
			c.end()
		}
		commands.Store(id, c)
		return map[string]any{"terminalId": id}
	})
	p.Handle("terminal/output", func(check.Message) any { return map[string]any{"output": "acptest\n", "truncated": false} })
	p.Handle("terminal/wait_for_exit", func(m check.Message) any {
		if c, ok := commands.Load(m.Text("terminalId")); ok {
			<-c.(command).ended.Done() // with the check at the latest
		}
		if exit == check.NoAnswer {
			return map[string]any{"signal": "SIGKILL"}
		}
		return exit
	})
	for _, method := range []string{"terminal/kill", "terminal/release"} {
		p.Handle(method, func(m check.Message) any {
			if c, ok := commands.Load(m.Text("terminalId")); ok {
				c.(command).end()
			}
			return map[string]any{}
		})
	}
	return p
}

// command is a command that runs in a terminal of a check.
type command struct {
	ended context.Context // is done when the command has ended
	end   context.CancelFunc
}

// start starts a session on a connection.
func start(t *check.T, p *check.Peer) *session { return startWith(t, p, newParams(t)) }

func startWith(t *check.T, p *check.Peer, params map[string]any) *session {
	s := &session{Peer: p, t: t}
	t.Works(func() {
		s.new = p.Start("session/new", params).Result()
		s.id = s.new.Text("sessionId")
		t.Requires(check.At(s.new.Result, "sessionId") != nil, "session/new returned no session id.")
	})
	return s
}

func newParams(t *check.T) map[string]any {
	return map[string]any{"cwd": t.Opts.Cwd, "mcpServers": []any{}}
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// prompt sends a prompt with a text and further blocks.
func (s *session) prompt(text string, more ...any) *check.Call {
	return s.Start("session/prompt", s.with("prompt", append([]any{textBlock(text)}, more...)))
}

// with returns params of the session with further members, given as names and values.
func (s *session) with(members ...any) map[string]any {
	params := map[string]any{"sessionId": s.id}
	for i := 0; i < len(members); i += 2 {
		params[members[i].(string)] = members[i+1]
	}
	return params
}

// turn sends the prompt with a name, waits until its turn has ended, and returns what the agent has
// sent meanwhile. If the turn fails, the check is inconclusive.
func (s *session) turn(name string) []check.Message {
	s.call = s.prompt(s.t.Prompt(name))
	s.t.Works(func() { s.stopReason(s.call) })
	return s.Since(s.call.From())
}

// settle waits for what follows the start of a session, or an earlier turn: it is none of the next turn, and
// need not be kept.
func (s *session) settle() { s.Quiet(s.Mark()) }

// talked starts a session that has had a turn.
func talked(t *check.T) *session {
	s := open(t)
	s.turn("text")
	return s
}

// stopReason waits for the end of the turn that a prompt began: the response in version 1, and the
// idle state in version 2, where the stop reason may be absent.
func (s *session) stopReason(c *check.Call) string {
	s.end = c.Turn(s.provoked(c))
	if s.turns++; s.t.Version == 2 {
		s.end = s.idle(c)
		return s.end.Text("update", "stopReason")
	}
	return s.end.Text("stopReason")
}

// idle waits for the idle state that ends a turn.
func (s *session) idle(c *check.Call) check.Message {
	return s.AwaitTurn(c.From(), "the state idle", func(m *check.Message) bool {
		return s.is(m, "state_update") && m.Text("update", "state") == "idle"
	}, s.provoked(c))
}

// provoked reports whether something was sent behind a prompt that its turn must react to, or whether
// turns of the session have ended before.
func (s *session) provoked(c *check.Call) bool {
	return s.turns > 0 || slices.ContainsFunc(s.Sent(c.From()), func(m check.Message) bool {
		return m.IsResponse() || slices.Contains([]string{"session/cancel", "session/close"}, m.Method)
	})
}

// ends waits for the end of the turn that a prompt began, which may be an error.
func (s *session) ends(c *check.Call) {
	s.AwaitTurn(c.From(), "the end of the turn", c.IsResponse, s.provoked(c))
	if s.t.Version == 2 {
		s.idle(c)
	}
}

// request awaits a request of the agent in the turn that a prompt began. It reports false if the
// turn ends without it.
func (s *session) request(c *check.Call, method string) (check.Message, bool) {
	m, ok := s.Arrives(c.From(), func(m *check.Message) bool {
		ended := m.Method == "" && string(m.ID) == c.ID && (s.t.Version == 1 || m.Error != nil)
		return m.Method == method && m.Text("sessionId") == s.id || ended || s.is(m, "state_update") && m.Text("update", "state") == "idle"
	})
	return m, ok && m.Method == method
}

// provoke sends the prompt with a name, and awaits the request of the agent that it is for.
func (s *session) provoke(name, method string) {
	ok := false
	s.call = s.prompt(s.t.Prompt(name))
	s.question, ok = s.request(s.call, method)
	s.t.Requires(ok, "The agent did not send %s.", method)
}

// state awaits a state of the session, from a place of the log on.
func (s *session) state(from int, state string) check.Message {
	return s.Await(from, "the state "+state, func(m *check.Message) bool { return s.is(m, "state_update") && m.Text("update", "state") == state })
}

// Since is that of the [check.Peer] without what names another session: ids of tool calls and messages are
// those of their session alone, and a turn may start further sessions.
func (s *session) Since(from int) []check.Message { return s.own(s.Peer.Since(from)) }

// Quiet is that of the [check.Peer], as [session.Since] is.
func (s *session) Quiet(from int) []check.Message { return s.own(s.Peer.Quiet(from)) }

func (s *session) own(log []check.Message) []check.Message {
	return slices.DeleteFunc(log, func(m check.Message) bool {
		id := m.Text("sessionId")
		return m.Method != "" && id != "" && id != s.id
	})
}

// is reports whether m is an update of the session of one of the kinds.
func (s *session) is(m *check.Message, kinds ...string) bool {
	return slices.Contains(kinds, m.Update()) && m.Text("sessionId") == s.id
}

// endsWell fails the check if the turn that a prompt began ends with a stop reason that is wrong here.
// Whether the protocol knows it is the subject of other checks.
func (s *session) endsWell(c *check.Call, wrong ...string) { s.ended(s.stopReason(c), wrong...) }

func (s *session) ended(reason string, wrong ...string) {
	s.t.FailAtIf(slices.Contains(wrong, reason), s.end, "The turn ended with the stop reason %q.", reason)
}

// spoken are the kinds of updates that belong to a turn.
var spoken = []string{"agent_message_chunk", "agent_thought_chunk", "agent_message", "agent_thought", "tool_call", "tool_call_update", "tool_call_content_chunk"}

// working starts a session whose turn goes on until it is cancelled.
func working(t *check.T) *session {
	s := open(t)
	s.works("slow")
	return s
}

// works sends the prompt with a name, and waits for the beginning of its turn.
func (s *session) works(name string) {
	s.call = s.prompt(s.t.Prompt(name))
	s.t.Works(s.begins)
}

// begins waits for the beginning of the turn of the last prompt.
func (s *session) begins() {
	m := s.AwaitTurn(s.call.From(), "the beginning of the turn", func(m *check.Message) bool {
		return s.is(m, spoken...) || s.call.IsResponse(m) && m.Error != nil
	}, false)
	s.t.FailAtIf(m.Error != nil, m, "The prompt failed.")
}

func (s *session) cancel() { s.Notify("session/cancel", s.with()) }

// said returns the text of the messages of the agent, or of the user, as a client shows it.
func said(log []check.Message, by string) string {
	texts, order := map[string]string{}, []string{}
	for _, m := range kinds(log, by+"_message_chunk", by+"_message") {
		id := m.Text("update", "messageId")
		if _, ok := texts[id]; !ok {
			order = append(order, id)
		}
		switch m.Update() {
		case by + "_message_chunk":
			texts[id] += m.Text("update", "content", "text")
		case by + "_message":
			texts[id] = ""
			for _, block := range check.Get[[]struct{ Text string }](&m, "update", "content") {
				texts[id] += block.Text
			}
		}
	}
	var all strings.Builder
	for _, id := range order {
		all.WriteString(texts[id] + "\n")
	}
	return all.String()
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

func kinds(log []check.Message, wanted ...string) []check.Message {
	return slices.DeleteFunc(slices.Clone(log), func(m check.Message) bool { return !slices.Contains(wanted, m.Update()) })
}

// silent fails the check if one of the messages is an update of one of the kinds.
func silent(t *check.T, log []check.Message, what string, wanted ...string) {
	if wrong := kinds(log, wanted...); len(wrong) > 0 {
		t.FailAt(wrong[0], "An update %q came %s.", wrong[0].Update(), what)
	}
}

// fails fails the check unless m is an error with one of the codes; none means any code.
func fails(t *check.T, m check.Message, codes ...int64) {
	t.Expect(fmt.Sprintf("an error %v", codes))
	t.FailAtIf(m.Error == nil, m, "The request succeeded.")
	t.FailAtIf(len(codes) > 0 && !slices.Contains(codes, m.Error.Code), m, "The request failed with the code %d.", m.Error.Code)
}

// allow chooses an option that allows, and only once if there is one: agents remember the others
// for further sessions.
func allow(m check.Message) any { return choose(m, "allow_once", "allow_always") }

func reject(m check.Message) any { return choose(m, "reject_once", "reject_always") }

func choose(m check.Message, kinds ...string) any {
	options := check.Get[[]struct{ OptionID, Kind string }](&m, "options")
	for _, kind := range kinds {
		for _, option := range options {
			if option.Kind == kind {
				return selected(option.OptionID)
			}
		}
	}
	return cancelled
}

func selected(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

var cancelled = map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
