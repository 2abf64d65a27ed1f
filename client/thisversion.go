package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// This file contains what differs between the versions and has no other file.

// updateNotification is the params type of session/update, and cancelNotification that of
// session/cancel.
type (
	updateNotification = acp.SessionNotification
	cancelNotification = acp.CancelNotification
)

// versioned holds the fields of a Conn that only this version has.
type versioned struct {
	roots roots
}

// versionedSession holds the fields of a Session that only this version has.
type versionedSession struct {
	turn *Turn // the turn in flight, or nil. Guarded by Session.mu.
}

// versionedUpdate holds the fields of an update that only this version has.
type versionedUpdate struct{}

var _ = update{}.versionedUpdate // empty in this version

// sentCapabilities returns a pointer to the member of the request that holds the client's
// capabilities.
func sentCapabilities(req *acp.InitializeRequest) **acp.ClientCapabilities {
	return &req.ClientCapabilities
}

// introduceSelf fills in what the request must say about this client. In version 1, that is
// nothing.
func (c *Conn) introduceSelf(*acp.InitializeRequest) {}

func (c *Conn) handshake() *rpc.CallOptions { return &rpc.CallOptions{} }

// strictIDs reports whether the id of a request must be a string or an integer.
const strictIDs = false

// reopens reports whether a call of the method opens a session again that the stream has
// lost.
func reopens(method string) bool {
	return method == acp.MethodSessionLoad || method == acp.MethodSessionResume
}

func agentOf(res *acp.InitializeResponse) *peer {
	return &peer{info: res.AgentInfo, caps: res.AgentCapabilities, auth: res.AuthMethods}
}

func authMethodID(m acp.AuthMethod) acp.AuthMethodID {
	switch m := m.(type) {
	case *acp.AuthMethodAgent:
		return m.ID
	case *acp.AuthMethodTerminal:
		return m.ID
	}
	return ""
}

func (c *Conn) logIn(ctx context.Context, id acp.AuthMethodID) error {
	_, err := c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: id})
	return err
}

// follow is called before an update is delivered. The caller must call the result after
// that. In version 1, updates do not begin or end turns.
func (c *Conn) follow(acp.SessionID, *update) (delivered func()) { return func() {} }

// toTurnLocked gives an update to the turn in flight. It reports false if there is none.
func (s *Session) toTurnLocked(it update) bool {
	return s.turn != nil && s.turn.feed.push(it)
}

func (s *Session) turnInFlightLocked() bool { return s.turn != nil }

// forgetTurnsLocked is called when the session was closed. In version 1, the response to the
// prompt ends the turn.
func (s *Session) forgetTurnsLocked() {}

func (c *Conn) forgetSession(id acp.SessionID) { c.roots.remove(id) }

// track stores the settings that an update reports.
func (t *settings) track(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.ConfigOptionUpdate:
		t.setOptions(t.next(), u.ConfigOptions)
	case *acp.CurrentModeUpdate:
		t.setMode(t.next(), u.CurrentModeID)
	}
}

// matter is what a question to the user is about. In version 1, there is no background work, and a
// cancel ends all questions of the session.
type matter struct{}

func (*work) inBackground(matter) bool { return false }

func permissionMatter(*acp.RequestPermissionRequest) (m matter) { return m }
func elicitationMatter(*acp.ElicitationSessionScope) (m matter) { return m }

// sessionOf returns the session that a message of the agent belongs to. ok is false if the params
// contain none.
func sessionOf(params any) (acp.SessionID, bool) {
	switch p := params.(type) {
	case *acp.SessionNotification:
		return p.SessionID, true
	case *acp.RequestPermissionRequest:
		return p.SessionID, true
	case *acp.ReadTextFileRequest:
		return p.SessionID, true
	case *acp.WriteTextFileRequest:
		return p.SessionID, true
	case *acp.CreateTerminalRequest:
		return p.SessionID, true
	case *acp.TerminalOutputRequest:
		return p.SessionID, true
	case *acp.WaitForTerminalExitRequest:
		return p.SessionID, true
	case *acp.KillTerminalRequest:
		return p.SessionID, true
	case *acp.ReleaseTerminalRequest:
		return p.SessionID, true
	}
	return "", false
}

// The groups of capabilities that params need.
const (
	sessionGroup = "sessionCapabilities."
	promptGroup  = "promptCapabilities."
	serverGroup  = "mcpCapabilities."
)

// serverKind returns the capability for the kind of an MCP server, or "" if it needs none.
func serverKind(server acp.MCPServer) string {
	switch server.(type) {
	case *acp.MCPServerHTTP:
		return "http"
	case *acp.MCPServerSSE:
		return "sse"
	case *acp.MCPServerACP:
		return "acp"
	}
	return ""
}

// needsOfVersion adds what the params of methods need that only this version has.
func needsOfVersion(paths []string, params any) []string {
	if p, ok := params.(*acp.LoadSessionRequest); ok {
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers)
	}
	return paths
}

// systemPromptOfVersion returns the system prompt in the params of methods that only this version
// has.
func systemPromptOfVersion(params any) *acp.SystemPrompt {
	if p, ok := params.(*acp.LoadSessionRequest); ok {
		return p.SystemPrompt
	}
	return nil
}

// cursorOf returns the cursor of a page. ok is false if there is none.
func cursorOf(cursor string) (text string, ok bool) { return cursor, cursor != "" }

func waysIn(methods []acp.AuthMethod) (ways []wayIn) {
	for _, w := range signin.Ways(methods) {
		ways = append(ways, wayIn{string(w.ID), w.Name, w.Description, w.Instruction("the agent's command")})
	}
	return ways
}
