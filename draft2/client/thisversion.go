package client

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// This file contains what differs between the versions and has no other file. The files whose
// names end in _shared_gen.go are copies of files of version 1.

// updateNotification is the params type of session/update, and cancelNotification that of
// session/cancel.
type (
	updateNotification = acp.UpdateSessionNotification
	cancelNotification = acp.CancelSessionNotification
)

// versioned holds the fields of a Conn that only this version has.
type versioned struct{}

var _ = new(Conn).versioned // empty in this version

// versionedSession holds the fields of a Session that only this version has.
type versionedSession struct{}

var _ = new(Session).versionedSession // empty in this version

// versionedUpdate holds the fields of an update that only this version has.
type versionedUpdate struct {
	turn *Turn // that the update belongs to, or nil
}

// sentCapabilities returns a pointer to the member of the request that holds the client's
// capabilities.
func sentCapabilities(req *acp.InitializeRequest) **acp.ClientCapabilities { return &req.Capabilities }

// introduceSelf fills in what the request must say about this client.
func (c *Conn) introduceSelf(req *acp.InitializeRequest) {
	req.Info.Name = cmp.Or(req.Info.Name, "unknown")
	req.Info.Version = cmp.Or(req.Info.Version, "unknown")
}

// handshake returns the options of the call of initialize. What the agent sends before its
// response waits until the version is known.
func (c *Conn) handshake() *rpc.CallOptions { return &rpc.CallOptions{Negotiates: true} }

// strictIDs reports whether the id of a request must be a string or an integer.
const strictIDs = true

// reopens reports whether a call of the method opens a session again that the stream has
// lost.
func reopens(method string) bool { return method == acp.MethodSessionResume }

func agentOf(res *acp.InitializeResponse) *peer {
	return &peer{info: &res.Info, caps: res.Capabilities, auth: res.AuthMethods}
}

func authMethodID(m acp.AuthMethod) acp.AuthMethodID {
	switch m := m.(type) {
	case *acp.AuthMethodAgent:
		return m.MethodID
	case *acp.AuthMethodTerminal:
		return m.MethodID
	}
	return ""
}

func (c *Conn) logIn(ctx context.Context, id acp.AuthMethodID) error {
	_, err := c.Login(ctx, &acp.LoginAuthRequest{MethodID: id})
	return err
}

// follow is called before an update is delivered. It lets the update begin and end turns and
// stores in it which turn it belongs to. The caller must call the result after the update
// was delivered.
func (c *Conn) follow(id acp.SessionID, it *update) (delivered func()) {
	turn, ended := c.turns.read(id, it.u, c.sessions.knows)
	it.turn = turn
	return ended.finish
}

// toTurnLocked gives an update to its turn. It reports false if it belongs to none.
func (s *Session) toTurnLocked(it update) bool {
	return it.turn != nil && it.turn.feed.push(it)
}

func (s *Session) turnInFlightLocked() bool { return s.conn.turns.inFlight(s.id) }

func (s *Session) forgetTurnsLocked() { s.conn.turns.forget(s.id, s) }

func (c *Conn) forgetSession(id acp.SessionID) { c.turns.forget(id, nil) }

// matter is what a question to the user is about: a cancel does not end questions about
// background work.
type matter struct {
	toolCall acp.ToolCallID
	terminal acp.TerminalID
}

func permissionMatter(req *acp.RequestPermissionRequest) matter {
	switch s := req.Subject.(type) {
	case *acp.ToolCallPermissionSubject:
		return matter{toolCall: s.ToolCall.ToolCallID}
	case *acp.CommandPermissionSubject:
		return matter{s.ToolCallID, s.TerminalID}
	}
	return matter{}
}

func elicitationMatter(scope *acp.ElicitationSessionScope) matter {
	return matter{toolCall: scope.ToolCallID}
}

// sessionOf returns the session that a message of the agent belongs to. It reports false
// if the params name none.
func sessionOf(params any) (acp.SessionID, bool) {
	switch p := params.(type) {
	case *acp.UpdateSessionNotification:
		return p.SessionID, true
	case *acp.RequestPermissionRequest:
		return p.SessionID, true
	}
	return "", false
}

// inBackground reports whether something belongs to background work.
func (w *work) inBackground(about matter) bool {
	return slices.ContainsFunc(w.background, func(item acp.BackgroundWork) bool {
		switch item := item.(type) {
		case *acp.BackgroundToolCall:
			return item.ToolCallID == about.toolCall
		case *acp.BackgroundTerminal:
			return item.TerminalID == about.terminal
		}
		return false
	})
}

// over returns nil: in version 2 the agent may continue to work after a turn, and ask.
func (*turns) over(acp.SessionID) <-chan struct{} { return nil }

// The groups of capabilities that params need.
const (
	sessionGroup = "session."
	promptGroup  = "session.prompt."
	serverGroup  = "session.mcp."
)

// serverKind returns the capability for the kind of an MCP server, or "" if it needs none.
func serverKind(server acp.MCPServer) string {
	switch server.(type) {
	case *acp.MCPServerStdio:
		return "stdio"
	case *acp.MCPServerHTTP:
		return "http"
	case *acp.MCPServerACP:
		return "acp"
	}
	return ""
}

// needsOfVersion adds what the params of methods need that only this version has.
func needsOfVersion(paths []string, _ any) []string { return paths }

// systemPromptOfVersion returns the system prompt in the params of methods that only this version
// has. Version 2 has none of these.
func systemPromptOfVersion(any) *acp.SystemPrompt { return nil }

// cursorOf returns the cursor of a page. ok is false if there is none.
func cursorOf(cursor *acp.SessionListCursor) (text string, ok bool) {
	if cursor == nil {
		return "", false
	}
	return string(*cursor), true
}

func waysIn(methods []acp.AuthMethod) (ways []wayIn) {
	for _, m := range methods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			ways = append(ways, wayIn{string(m.MethodID), m.Name, m.Description, ""})
		case *acp.AuthMethodTerminal:
			ways = append(ways, wayIn{string(m.MethodID), m.Name, m.Description, strings.Join(append([]string{"run the agent's command"}, m.Args...), " ")})
		}
	}
	return ways
}

// State returns the state of the session that the agent reported last: running, requires
// action, or idle. It is idle before the first report. The result is shared and must not be
// modified.
func (s *Session) State() acp.StateUpdate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.state == nil {
		return &acp.IdleStateUpdate{}
	}
	return s.settings.state
}

// Commands returns the slash commands of the session, as the agent last reported them.
func (s *Session) Commands() []acp.AvailableCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.settings.commands)
}

// versionedSettings are the settings that only this version has.
type versionedSettings struct {
	state      acp.StateUpdate // nil until it is reported
	commands   []acp.AvailableCommand
	commandsAt int
}

// track stores the settings, the state or the commands that an update reports.
func (t *settings) track(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.ConfigOptionUpdate:
		t.setOptions(t.next(), u.ConfigOptions)
	case *acp.SessionStateUpdate:
		t.state = u.StateUpdate
	case *acp.AvailableCommandsUpdate:
		t.setCommands(t.next(), u.AvailableCommands)
	}
}

func (t *settings) setCommands(at int, commands []acp.AvailableCommand) {
	if at > t.commandsAt {
		t.commands, t.commandsAt = commands, at
	}
}

// reopened stores the settings from the response of a resume.
func (a *settingResponse) reopened(options []acp.SessionConfigOption, commands []acp.AvailableCommand) {
	a.tell(func(t *settings, at int) {
		if options != nil {
			t.setOptions(at, options)
		}
		if commands != nil {
			t.setCommands(at, commands)
		}
	})
}
