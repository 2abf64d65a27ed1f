// Package agents has the checks of agents.
package agents

import (
	"slices"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// Suite returns the checks of agents.
func Suite() check.Suite {
	return check.Suite{Role: check.AgentRole, Hello: hello,
		Checks: slices.Concat(initializing, jsonrpc, passiveRules, prompts, cancelling, network)}
}

// newest is the version that a client asks for which speaks them all.
const newest = 2

// initParams are the params of initialize for a version. Members of both versions are in it, as a
// client sends that speaks both.
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
	version := t.Version
	if version == 0 {
		version = newest
	}
	m := p.Start("initialize", initParams(version)).Result()
	got := check.Get[int](&m, "protocolVersion")
	if got != 1 && got != 2 || t.Version != 0 && got != t.Version {
		t.Inconclusive("The agent answered version %d, which is not checked.", got)
	}
	if got == 2 && t.Version == 0 && check.At(m.Result, "info") == nil && check.At(m.Result, "agentCapabilities") != nil {
		got = 1 // it echoes the version, which is the subject of a check, and speaks version 1
	}
	t.Version, t.Init = got, m.Result
	t.Caps = check.At(m.Result, map[int]string{1: "agentCapabilities", 2: "capabilities"}[got])
}

// session is a session that a check has begun.
type session struct {
	*check.Peer
	t  *check.T
	id string
}

// begin connects and sends initialize.
func begin(t *check.T) *check.Peer {
	var p *check.Peer
	t.Works(func() {
		p = t.Connect()
		p.Start("initialize", initParams(t.Version)).Result()
		if t.Auth() != "" {
			p.Start(map[int]string{1: "authenticate", 2: "auth/login"}[t.Version], map[string]any{"methodId": t.Auth()}).Result()
		}
	})
	return p
}

// open connects and starts a session, in which permission is given.
func open(t *check.T) *session {
	p := begin(t)
	p.Handle("session/request_permission", allow)
	return start(t, p)
}

// start starts a session on a connection.
func start(t *check.T, p *check.Peer) *session {
	s := &session{Peer: p, t: t}
	t.Works(func() {
		m := p.Start("session/new", newParams(t)).Result()
		s.id = m.Text("sessionId")
		t.Requires(s.id != "", "session/new returned no session id.")
	})
	return s
}

func newParams(t *check.T) map[string]any {
	return map[string]any{"cwd": t.Cwd(), "mcpServers": []any{}}
}

// prompt sends a prompt with one text.
func (s *session) prompt(text string) *check.Call {
	return s.Start("session/prompt", s.with("prompt", []any{map[string]any{"type": "text", "text": text}}))
}

// with returns params of the session with further members, given as names and values.
func (s *session) with(members ...any) map[string]any {
	params := map[string]any{"sessionId": s.id}
	for i := 0; i < len(members); i += 2 {
		params[members[i].(string)] = members[i+1]
	}
	return params
}

// turn sends a prompt and waits until its turn has ended. It returns the stop reason.
func (s *session) turn(text string) (reason string) {
	s.t.Works(func() { reason = s.stopReason(s.prompt(text)) })
	return reason
}

// stopReason waits for the end of the turn that a prompt began: the response in version 1, and the
// idle state after it in version 2.
func (s *session) stopReason(c *check.Call) string {
	m := c.Result()
	if s.t.Version == 2 {
		m = s.Await(c.From(), "the idle state", func(m *check.Message) bool {
			return m.Update() == "state_update" && m.Text("update", "state") == "idle"
		})
		return m.Text("update", "stopReason")
	}
	return m.Text("stopReason")
}

// updates awaits an update of one of the kinds, from a place of the log on.
func (s *session) update(from int, kinds ...string) check.Message {
	return s.Await(from, "an update "+kinds[0], func(m *check.Message) bool {
		return slices.Contains(kinds, m.Update()) && m.Text("sessionId") == s.id
	})
}

// allow chooses the first option that allows.
func allow(m check.Message) any { return choose(m, "allow_once", "allow_always") }

// reject chooses the first option that rejects.
func reject(m check.Message) any { return choose(m, "reject_once", "reject_always") }

func choose(m check.Message, kinds ...string) any {
	for _, option := range check.Get[[]struct{ OptionID, Kind string }](&m, "options") {
		if slices.Contains(kinds, option.Kind) {
			return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option.OptionID}}
		}
	}
	return cancelled
}

var cancelled = map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
