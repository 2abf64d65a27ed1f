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

func (a *agent) ReadFile(ctx context.Context, sessionID, path string) (int, error) {
	r, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: acp.SessionId(sessionID), Path: path})
	return len(r.Content), err
}

func (a *agent) Sync(ctx context.Context, params work.SyncParams) error {
	_, err := a.conn.CallExtension(ctx, work.SyncMethod, params)
	return err
}

// client is the client end of the contender.
type client struct {
	acp.Client // nil: the works call none of the methods that are missing here

	conn   *acp.ClientSideConnection
	closer io.Closer
	env    *work.Env
}

func newClient(rwc io.ReadWriteCloser, env *work.Env) work.Client {
	c := &client{closer: rwc, env: env}
	c.conn = acp.NewClientSideConnection(c, rwc, rwc)
	c.conn.SetLogger(quiet)
	return c
}

func (c *client) Initialize(ctx context.Context) error {
	_, err := c.conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion:    acp.ProtocolVersionNumber,
		ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: true}},
	})
	return err
}

func (c *client) SetMode(ctx context.Context, sessionID, modeID string) error {
	_, err := c.conn.SetSessionMode(ctx, acp.SetSessionModeRequest{
		SessionId: acp.SessionId(sessionID),
		ModeId:    acp.SessionModeId(modeID),
	})
	return err
}

func (c *client) Prompt(ctx context.Context, sessionID, text string) error {
	_, err := c.conn.Prompt(ctx, acp.PromptRequest{
		SessionId: acp.SessionId(sessionID),
		Prompt:    []acp.ContentBlock{acp.TextBlock(text)},
	})
	return err
}

func (c *client) Load(ctx context.Context, sessionID string) error {
	_, err := c.conn.LoadSession(ctx, acp.LoadSessionRequest{
		SessionId:  acp.SessionId(sessionID),
		Cwd:        "/bench",
		McpServers: []acp.McpServer{},
	})
	return err
}

func (c *client) Mark(ctx context.Context) (work.Counters, error) {
	var m work.Counters
	raw, err := c.conn.CallExtension(ctx, work.MarkMethod, nil)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	return m, err
}

func (c *client) Close() error { return c.closer.Close() }

func (c *client) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	length := 0
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		length = textLength(u.AgentMessageChunk.Content)
	case u.AgentThoughtChunk != nil:
		length = textLength(u.AgentThoughtChunk.Content)
	case u.ToolCallUpdate != nil:
		for _, part := range u.ToolCallUpdate.Content {
			if d := part.Diff; d != nil {
				length += len(d.NewText)
				if d.OldText != nil {
					length += len(*d.OldText)
				}
			}
		}
	case u.Plan != nil:
		for _, e := range u.Plan.Entries {
			length += len(e.Content)
		}
	}
	c.env.Tally.Add(length)
	return nil
}

func textLength(b acp.ContentBlock) int {
	if b.Text == nil {
		return 0
	}
	return len(b.Text.Text)
}

func (c *client) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{Content: c.env.Files[p.Path]}, nil
}

// HandleExtensionMethod answers work.SyncMethod, the only extension.
func (c *client) HandleExtensionMethod(ctx context.Context, _ string, params json.RawMessage) (any, error) {
	return c.env.HandleSync(ctx, params)
}
