package hardening_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/stream"
)

// buggyAgent2 is buggyAgent in version 2.
type buggyAgent2 struct {
	conn *agent2.Conn
	bug  func(v any) error
}

func (a *buggyAgent2) Initialize(context.Context, *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	caps := agent2.Capabilities(a)
	caps.Session.MCP = &acp2.MCPCapabilities{HTTP: &acp2.MCPHTTPCapabilities{}, Stdio: &acp2.MCPStdioCapabilities{}}
	return &acp2.InitializeResponse{Capabilities: caps}, nil
}

func (a *buggyAgent2) NewSession(_ context.Context, req *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	return &acp2.NewSessionResponse{SessionID: "s"}, a.bug(req)
}

func (a *buggyAgent2) ListSessions(_ context.Context, req *acp2.ListSessionsRequest) (*acp2.ListSessionsResponse, error) {
	return nil, a.bug(req)
}

func (a *buggyAgent2) ResumeSession(_ context.Context, req *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	return nil, a.bug(req)
}

func (a *buggyAgent2) CloseSession(_ context.Context, req *acp2.CloseSessionRequest) (*acp2.CloseSessionResponse, error) {
	return nil, a.bug(req)
}

func (a *buggyAgent2) Cancel(_ context.Context, n *acp2.CancelSessionNotification) error {
	return a.bug(n)
}

func (a *buggyAgent2) Login(_ context.Context, req *acp2.LoginAuthRequest) (*acp2.LoginAuthResponse, error) {
	return nil, a.bug(req)
}

func (a *buggyAgent2) Logout(_ context.Context, req *acp2.LogoutAuthRequest) (*acp2.LogoutAuthResponse, error) {
	return nil, a.bug(req)
}

// Prompt goes wrong before the message is part of the conversation, or in the work on it.
func (a *buggyAgent2) Prompt(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	s, text := a.conn.Session(req.SessionID), acp2.PlainText(req.Prompt...)
	if strings.Contains(text, "refuse") {
		return &acp2.PromptResponse{MessageID: "m"}, a.bug(req)
	}
	return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
		_ = s.Message(ctx, "m", "canary-said")
		_ = s.Update(ctx, &acp2.ToolCallUpdate{ToolCallID: "canary-call", RawInput: json.RawMessage(`"canary-input"`), Content: acp2.Some([]acp2.ToolCallContent{agent2.Diff("/canary-path", nil, new("canary-content\n"))})})
		if term, err := s.StartTerminal(ctx, &acp2.TerminalUpdate{TerminalID: "canary-terminal"}); err == nil {
			_, _ = term.Write([]byte("canary-output"))
		}
		if b, err := s.StartBackground(ctx, &acp2.BackgroundToolCall{ToolCallID: "canary-call"}); err == nil {
			_ = b.End(ctx)
		}
		_, _ = s.AskPermission(ctx, "canary-title", &acp2.ToolCallPermissionSubject{ToolCall: acp2.ToolCallUpdate{ToolCallID: "canary-call", RawInput: json.RawMessage(`"canary-input"`)}})
		_, _ = a.conn.RequestPermission(ctx, &acp2.RequestPermissionRequest{SessionID: "s", Title: "canary-title"}) // without options: not sent
		_, _ = a.conn.CreateElicitation(ctx, &acp2.CreateElicitationRequest{Message: "canary-message", Mode: &acp2.ElicitationFormMode{RequestedSchema: acp2.ElicitationSchema{Type: acp2.ElicitationSchemaTypeObject, Title: "canary-title"}, Scope: &acp2.ElicitationSessionScope{SessionID: "s"}}})
		_ = a.conn.Call(ctx, "_ext", map[string]string{"canary-key": "canary-ext"}, nil)
		_ = a.conn.Notify(ctx, "_note", map[string]string{"canary-key": "canary-ext"})
		_ = a.conn.Notify(ctx, "_note", func() {}) // cannot be encoded
		if strings.Contains(text, "wait") {
			<-ctx.Done()
		}
		return acp2.StopReasonEndTurn, a.bug(req)
	})
}

func (a *buggyAgent2) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method == "_bad" {
		return map[string]any{"canary-key": func() {}}, nil
	}
	return params, a.bug(params)
}

// buggyClient2 is buggyClient in version 2.
type buggyClient2 struct{ bug func(v any) error }

func (c *buggyClient2) RequestPermission(_ context.Context, req *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	return acp2.Selected("canary-choice"), c.bug(req)
}

func (c *buggyClient2) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
	return c.bug(n)
}

func (c *buggyClient2) CreateElicitation(_ context.Context, req *acp2.CreateElicitationRequest) (*acp2.CreateElicitationResponse, error) {
	return &acp2.CreateElicitationResponse{Action: &acp2.ElicitationDeclineAction{}}, c.bug(req)
}

func (c *buggyClient2) HandleExtension(_ context.Context, _ string, params json.RawMessage) (any, error) {
	return params, c.bug(params)
}

func (c *buggyClient2) HandleExtensionNotification(_ context.Context, _ string, params json.RawMessage) error {
	return c.bug(params)
}

// tellSecrets2 is tellSecrets in version 2.
func tellSecrets2(t *testing.T, bug func(any) error, log *slog.Logger) {
	aIn, cOut := io.Pipe()
	cIn, aOut := io.Pipe()
	ac := agent2.New(stream.Lines(aIn, aOut, nil), func(c *agent2.Conn) acp2.Agent { return &buggyAgent2{c, bug} }, &agent2.Options{Logger: log})
	cc := client2.New(stream.Lines(cIn, cOut, nil), func(*client2.Conn) acp2.Client { return &buggyClient2{bug} }, &client2.Options{Logger: log})
	require.NoError(t, ac.Start(context.Background()))
	require.NoError(t, cc.Start(context.Background()))
	ctx := t.Context()
	_, err := cc.Initialize(ctx, nil)
	require.NoError(t, err)
	_, _ = cc.Login(ctx, &acp2.LoginAuthRequest{MethodID: "canary-method"})
	_, _ = cc.NewSession(ctx, &acp2.NewSessionRequest{
		Cwd: "/canary-cwd", Meta: acp2.Meta{"canary-meta": "canary-meta"},
		MCPServers: []acp2.MCPServer{
			&acp2.MCPServerStdio{Name: "m", Command: "/canary-command", Args: []string{"canary-arg"}, Env: []acp2.EnvVariable{{Name: "canary-env", Value: "canary-env"}}},
			&acp2.MCPServerHTTP{Name: "h", URL: "https://canary-host/", Headers: []acp2.HTTPHeader{{Name: "Authorization", Value: "canary-header"}}},
		},
	})
	_, _ = cc.NewSession(ctx, &acp2.NewSessionRequest{Cwd: "canary-relative"})
	_, _ = cc.ListSessions(ctx, &acp2.ListSessionsRequest{Cursor: new(acp2.SessionListCursor("canary-cursor"))})
	_, _ = cc.ResumeSession(ctx, &acp2.ResumeSessionRequest{SessionID: "canary-session", Cwd: "/canary-cwd", ReplayFrom: &acp2.ReplayFromStart{}})
	_, _ = cc.Prompt(ctx, &acp2.PromptRequest{SessionID: "canary-session", Prompt: []acp2.ContentBlock{acp2.Text("canary-prompt")}})
	_, _ = cc.Prompt(ctx, &acp2.PromptRequest{SessionID: "canary-session", Prompt: []acp2.ContentBlock{acp2.Text("refuse canary-prompt")}})
	_, _ = cc.CancelToolCall(ctx, &acp2.CancelToolCallRequest{SessionID: "canary-session", ToolCallID: "canary-call"})
	s := cc.Session("s")
	_, _ = s.Prompt(ctx, acp2.Text("canary-prompt")).Wait()
	stopped, stop := context.WithCancel(ctx)
	turn := s.Prompt(stopped, acp2.Text("wait canary-prompt"))
	held := s.Prompt(ctx, acp2.Text("held canary-prompt"))
	_ = held.Cancel(ctx)
	_, _ = held.Wait()
	stop()
	_, _ = turn.Wait()
	_ = cc.Call(ctx, "_ext", map[string]string{"canary-key": "canary-ext"}, nil)
	_ = cc.Call(ctx, "_bad", nil, nil)
	_ = cc.Notify(ctx, "_note", "canary-note")
	_ = cc.Cancel(ctx, &acp2.CancelSessionNotification{SessionID: "canary-session"})
	_ = s.Close(ctx)
	require.NoError(t, cc.Shutdown(ctx))
	require.NoError(t, ac.Shutdown(ctx))
}
