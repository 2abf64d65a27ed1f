// Package clients has the checks of clients. A check plays the agent of a client that connects,
// opens a session by itself, and perhaps sends a prompt, which is in flight during the check.
package clients

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// Suite returns the checks of clients.
func Suite() check.Suite {
	return check.Suite{Role: check.ClientRole, Hello: hello, Control: control, Checks: slices.Concat(
		initializing, jsonrpc, passiveRules, order, asking, serving, reading, writing, outside, terminals, ending)}
}

// The newest version, and one that nothing speaks.
const (
	newest = 2
	tooNew = 65535
)

const sessionID = "acptest-session"

// A client is driven readyAfter its session was opened. One that has opened no session is driven
// driveAfter its start.
const (
	driveAfter = 2 * time.Second
	readyAfter = 100 * time.Millisecond
)

// initialized returns the result of initialize in a version.
func initialized(version int) map[string]any {
	info := map[string]any{"name": "acptest", "version": "1"}
	if version == 2 {
		return map[string]any{"protocolVersion": 2, "info": info, "capabilities": map[string]any{"session": map[string]any{}}}
	}
	return map[string]any{"protocolVersion": version, "agentInfo": info, "agentCapabilities": map[string]any{}, "authMethods": []any{}}
}

// handlers answer as an agent that offers what every agent must. A prompt gets no answer.
func handlers(version int) map[string]check.Handler {
	all := map[string]check.Handler{
		"initialize": func(m check.Message) any {
			chosen := version
			if chosen == 0 {
				chosen = min(check.Get[int](&m, "protocolVersion"), newest)
			}
			return initialized(chosen)
		},
		"session/new":    func(check.Message) any { return map[string]any{"sessionId": sessionID} },
		"session/prompt": func(check.Message) any { return check.NoAnswer },
	}
	if version == 2 {
		all["session/prompt"] = func(check.Message) any { return map[string]any{"messageId": "acptest-message"} }
		all["session/list"] = func(check.Message) any { return map[string]any{"sessions": []any{}} }
		all["session/close"] = func(check.Message) any { return map[string]any{} }
	}
	return all
}

// is returns a function that accepts the requests and notifications of a method.
func is(method string) func(*check.Message) bool {
	return func(m *check.Message) bool { return m.Method == method }
}

// accept starts the client, and makes it send a prompt if it must be driven.
func accept(t *check.T, answers map[string]check.Handler) *check.Peer {
	drive := sync.OnceFunc(t.Drive)
	opened := answers["session/new"]
	answers["session/new"] = func(m check.Message) any {
		time.AfterFunc(readyAfter, drive)
		return opened(m)
	}
	time.AfterFunc(driveAfter, drive)
	return t.Accept(answers)
}

// hello learns in which version the client begins, what it offers, and whether it prompts.
func hello(t *check.T) {
	p := accept(t, handlers(t.Version))
	m := p.Await(0, "initialize", is("initialize"))
	asked := check.Get[int](&m, "protocolVersion")
	t.Requires(asked >= max(t.Version, 1), "The client asks for version %d, which is not checked.", asked)
	if t.Version == 0 {
		t.Version = min(asked, newest)
	}
	_, opens := p.Arrives(0, is("session/new"))
	t.Requires(opens, "The client opens no session by itself.")
	_, t.Prompts = p.Arrives(0, is("session/prompt"))
	t.Requires(t.Prompts || !p.Closed(), "The client ends when it has opened its session.")
	for _, m := range p.Since(0) { // the last one is for the version that was chosen
		if m.Method == "initialize" {
			t.Init = m.Params
		}
	}
	t.Caps = check.At(t.Init, map[int]string{1: "clientCapabilities", 2: "capabilities"}[t.Version])
	probes := []check.Probe{{Method: ping, Params: object("sessionId", sessionID)}} // over HTTP it goes behind the updates
	if t.Has(canRead) {
		probes = append(probes, check.Probe{Method: readFile, Params: object("sessionId", sessionID, "path", filepath.Join(t.Opts.Cwd, "acptest-missing"))})
	}
	if t.Has(canRun) {
		probes = append(probes, check.Probe{Method: "terminal/output", Params: object("sessionId", sessionID, "terminalId", "acptest-unknown")})
	}
	s := &session{Peer: p, t: t, id: sessionID}
	p.FindProbe(append(probes, check.Probe{Method: permission, Params: s.question(offered)})...)
}

// control states a verdict if the client does not answer on a new connection.
func control(t *check.T) { t.RequiresTime(open(t).Answers(), "A response did not come") }

// session is the session that a client has opened.
type session struct {
	*check.Peer
	t      *check.T
	id     string
	prompt check.Message // in flight, if the client prompts
	over   bool          // its turn has ended, and the client may end
}

// open lets the client open its session, and send its prompt.
func open(t *check.T) *session { return openWith(t, handlers(t.Version), sessionID) }

func openWith(t *check.T, answers map[string]check.Handler, id string) *session {
	s := &session{t: t, id: id}
	t.Works(func() {
		s.Peer = accept(t, answers)
		s.Await(0, "session/new", is("session/new"))
		if t.Prompts {
			s.prompt = s.Await(0, "session/prompt", is("session/prompt"))
		} else {
			s.Quiet(0) // until the client has the answer to session/new, any id may be that of the session
		}
		if t.Prompts && t.Version == 2 {
			s.update("state_update", "state", "running")
		}
	})
	return s
}

// with returns params of the session with further members, given as names and values.
func (s *session) with(members ...any) map[string]any {
	return object(append([]any{"sessionId", s.id}, members...)...)
}

func object(members ...any) map[string]any {
	o := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		o[members[i].(string)] = members[i+1]
	}
	return o
}

// update sends an update of a kind.
func (s *session) update(kind string, members ...any) {
	params := s.with("update", object(append([]any{"sessionUpdate", kind}, members...)...))
	if s.over {
		s.Try(object("jsonrpc", "2.0", "method", "session/update", "params", params))
		return
	}
	s.Notify("session/update", params)
}

func (s *session) text(text string) {
	s.update("agent_message_chunk", "messageId", "m", "content", object("type", "text", "text", text))
}

func (s *session) endTurn() {
	if s.t.Version == 2 {
		s.update("state_update", "state", "idle", "stopReason", "end_turn")
	} else {
		s.Answer(s.prompt, object("stopReason", "end_turn"))
	}
	s.over = true
}

// survives fails the check if the client does not respond any more, unless its turn is over and it
// has ended.
func (s *session) survives() {
	if s.over {
		s.AliveOrEnded()
	} else {
		s.Alive()
	}
}

// asked sends a request that the client may put to its user. The check is inconclusive if it gets no
// answer.
func (s *session) asked(method string, params any) check.Message {
	m, ok := s.Start(method, params).Arrives()
	s.t.FailIf(s.Closed() && !ok, "The client closed the connection instead of answering %s.", method)
	s.t.Requires(ok, "The client did not answer %s: it may wait for its user.", method)
	return m
}

// served is like asked, for a check of the result: an error makes the check inconclusive.
func (s *session) served(method string, params any) check.Message {
	m := s.asked(method, params)
	if m.Error != nil {
		s.t.Inconclusive("The client refused %s: %d (%s).", method, m.Error.Code, m.Error.Message)
	}
	return m
}

// likewise is like served, for a request like one that was served before: an error is the fault then.
func (s *session) likewise(method string, params any) check.Message {
	m := s.asked(method, params)
	if m.Error != nil {
		s.t.FailAt(m, "%s was served before, and is refused here: %d (%s).", method, m.Error.Code, m.Error.Message)
	}
	return m
}

// folder returns a new folder in that of the session.
func (s *session) folder() string {
	m := s.Await(0, "session/new", is("session/new"))
	cwd := m.Text("cwd")
	theirs, err := os.Stat(cwd)
	ours, err2 := os.Stat(s.t.Opts.Cwd)
	s.t.Requires(err == nil && err2 == nil && os.SameFile(theirs, ours), "The session works in %s, not in %s.", cwd, s.t.Opts.Cwd)
	return newFolder(s.t, cwd)
}

func newFolder(t *check.T, in string) string {
	dir, err := os.MkdirTemp(in, "acptest-")
	t.Requires(err == nil, "No folder can be made: %v.", err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func put(t *check.T, dir, name, text string) string {
	path := filepath.Join(dir, name)
	err := os.WriteFile(path, []byte(text), 0o600)
	t.Requires(err == nil, "A file cannot be made: %v.", err)
	return path
}

// on returns what a file contains, or "".
func on(path string) string {
	b, _ := os.ReadFile(path) // a file that is missing has no text
	return string(b)
}
