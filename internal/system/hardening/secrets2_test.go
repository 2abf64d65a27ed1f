package hardening_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// buggyAgent2 is buggyAgent in version 2. Its prompts fail before they are part of the
// conversation, or in the work.
func buggyAgent2(bug func(v any) error) func(*agent2.Conn) acp2.Agent {
	return func(conn *agent2.Conn) acp2.Agent {
		a := &peertest2.FullAgent{}
		a.Do = func(ctx context.Context, method string, params any) (any, error) {
			switch params := params.(type) {
			case *acp2.InitializeRequest:
				caps := agent2.Capabilities(a)
				caps.Session.MCP = &acp2.MCPCapabilities{HTTP: &acp2.MCPHTTPCapabilities{}, Stdio: &acp2.MCPStdioCapabilities{}}
				return &acp2.InitializeResponse{Capabilities: caps}, nil
			case *acp2.PromptRequest:
				return buggyPrompt2(ctx, conn, params, bug)
			case json.RawMessage:
				if method == "_bad" {
					return map[string]any{"canary-key": func() {}}, nil
				}
			}
			return nil, bug(params)
		}
		return a
	}
}

func buggyPrompt2(ctx context.Context, conn *agent2.Conn, req *acp2.PromptRequest, bug func(v any) error) (any, error) {
	s, text := conn.Session(req.SessionID), acp2.PlainText(req.Prompt...)
	if strings.Contains(text, "refuse") {
		return nil, bug(req)
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
		_, _ = conn.RequestPermission(ctx, &acp2.RequestPermissionRequest{SessionID: "s", Title: "canary-title"}) // without options: not sent
		_, _ = conn.CreateElicitation(ctx, &acp2.CreateElicitationRequest{Message: "canary-message", Mode: &acp2.ElicitationFormMode{RequestedSchema: acp2.ElicitationSchema{Type: acp2.ElicitationSchemaTypeObject, Title: "canary-title"}, Scope: &acp2.ElicitationSessionScope{SessionID: "s"}}})
		_ = conn.Call(ctx, "_ext", map[string]string{"canary-key": "canary-ext"}, nil)
		_ = conn.Notify(ctx, "_note", map[string]string{"canary-key": "canary-ext"})
		_ = conn.Notify(ctx, "_note", func() {}) // cannot be encoded
		if strings.Contains(text, "wait") {
			<-ctx.Done()
		}
		return acp2.StopReasonEndTurn, bug(req)
	})
}

// buggyClient2 is buggyClient in version 2.
func buggyClient2(bug func(v any) error) func(*client2.Conn) acp2.Client {
	return func(*client2.Conn) acp2.Client {
		return &peertest2.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
			switch params.(type) {
			case *acp2.RequestPermissionRequest:
				return acp2.Selected("canary-choice"), bug(params)
			case *acp2.CreateElicitationRequest:
				return &acp2.CreateElicitationResponse{Action: &acp2.ElicitationDeclineAction{}}, bug(params)
			}
			return nil, bug(params)
		}}
	}
}

// tellSecrets2 is tellSecrets in version 2.
func tellSecrets2(t *testing.T, bug func(any) error, log *slog.Logger) {
	aIn, cOut := io.Pipe()
	cIn, aOut := io.Pipe()
	ac := agent2.New(stream.Lines(aIn, aOut, nil), buggyAgent2(bug), &agent2.Options{Unstable: true, Logger: log})
	cc := client2.New(stream.Lines(cIn, cOut, nil), buggyClient2(bug), &client2.Options{Unstable: true, Logger: log})
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
