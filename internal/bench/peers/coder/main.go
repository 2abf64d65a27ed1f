// Command coder is github.com/coder/acp-go-sdk in the benchmark.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"

	acp "github.com/coder/acp-go-sdk"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

func main() { work.Main(work.OverBytes("coder", serve, newClient)) }

var quiet = slog.New(slog.DiscardHandler)

func serve(rwc io.ReadWriteCloser) <-chan struct{} {
	a := &agent{}
	a.conn = acp.NewAgentSideConnection(a, rwc, rwc)
	a.conn.SetLogger(quiet)
	return a.conn.Done()
}

type agent struct {
	acp.Agent // nil: the works call none of the methods that are missing here

	conn *acp.AgentSideConnection
}

var corpus = work.Corpora(func(n acp.SessionNotification) acp.SessionUpdate { return n.Update })

func (a *agent) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{
		ProtocolVersion:   acp.ProtocolVersionNumber,
		AgentCapabilities: acp.AgentCapabilities{LoadSession: true},
	}, nil
}

func (a *agent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, nil
}

func (a *agent) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	if err := work.RunTask(ctx, a, string(p.SessionId), p.Prompt[0].Text.Text); err != nil {
		return acp.PromptResponse{}, err
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *agent) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	return acp.LoadSessionResponse{}, work.RunLoad(ctx, a, string(p.SessionId))
}

// HandleExtensionMethod answers work.MarkMethod, the only extension.
func (a *agent) HandleExtensionMethod(_ context.Context, _ string, _ json.RawMessage) (any, error) {
	return work.Mark(true), nil
}

// Update implements work.Agent, like ReadFile and Sync.
func (a *agent) Update(ctx context.Context, kind, sessionID string, i int) error {
	return a.conn.SessionUpdate(ctx, acp.SessionNotification{
		SessionId: acp.SessionId(sessionID),
		Update:    corpus(kind, i),
	})
}

// Say implements work.Speaker.
func (a *agent) Say(ctx context.Context, sessionID, text string) error {
	return a.conn.SessionUpdate(ctx, acp.SessionNotification{
		SessionId: acp.SessionId(sessionID),
		Update:    acp.UpdateAgentMessageText(text),
	})
}

func (a *agent) ReadFile(ctx context.Context, sessionID, path string) (int, error) {
	r, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: acp.SessionId(sessionID), Path: path})
	return len(r.Content), err
}

func (a *agent) Sync(ctx context.Context, params work.SyncParams) error {
	_, err := a.conn.CallExtension(ctx, work.SyncMethod, params)
	return err
}
