package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/bench/work"
	"github.com/acpkit/go-sdk/stream"
)

// benchClient is the client end of the contender.
type benchClient struct {
	acp.Client // nil: the works do not ask for permission

	conn    *client.Conn
	env     *work.Env
	turns   bool // prompts go through session and its turns, which then count
	session *client.Session
}

func newClient(s stream.Stream, env *work.Env) (*benchClient, error) {
	c := &benchClient{env: env, turns: os.Getenv(work.TurnEnv) != ""}
	c.conn = client.New(s, func(*client.Conn) acp.Client { return c }, nil)
	return c, c.conn.Start(context.Background())
}

func (c *benchClient) Initialize(ctx context.Context) error {
	_, err := c.conn.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersion})
	return err
}

func (c *benchClient) SetMode(ctx context.Context, sessionID, modeID string) error {
	_, err := c.conn.SetSessionMode(ctx, &acp.SetSessionModeRequest{
		SessionID: acp.SessionID(sessionID),
		ModeID:    acp.SessionModeID(modeID),
	})
	return err
}

func (c *benchClient) Prompt(ctx context.Context, sessionID, text string) error {
	if c.turns {
		return c.turn(ctx, text)
	}
	_, err := c.conn.Prompt(ctx, &acp.PromptRequest{
		SessionID: acp.SessionID(sessionID),
		Prompt:    []acp.ContentBlock{acp.Text(text)},
	})
	return err
}

// turn prompts with the helpers and counts what the turn gives out.
func (c *benchClient) turn(ctx context.Context, text string) error {
	if c.session == nil {
		session, err := c.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/bench"})
		if err != nil {
			return err
		}
		c.session = session
	}
	turn := c.session.Prompt(ctx, acp.Text(text))
	for u, err := range turn.Updates() {
		if err != nil {
			return err
		}
		c.env.Tally.Add(textLength(u))
	}
	_, err := turn.Wait()
	return err
}

func (c *benchClient) Load(ctx context.Context, sessionID string) error {
	_, err := c.conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: acp.SessionID(sessionID), Cwd: "/bench"})
	return err
}

func (c *benchClient) Mark(ctx context.Context) (m work.Counters, err error) {
	err = c.conn.Call(ctx, work.MarkMethod, nil, &m)
	return m, err
}

func (c *benchClient) Close() error {
	return errors.Join(c.conn.Close(), c.conn.Wait())
}

func (c *benchClient) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok && c.env.Clock != nil {
		c.env.Clock.Heard(acp.PlainText(chunk.Content))
	}
	if !c.turns {
		c.env.Tally.Add(textLength(n.Update))
	}
	return nil
}

func textLength(u acp.SessionUpdate) int {
	length := 0
	switch u := u.(type) {
	case *acp.AgentMessageChunk:
		length = blockLength(u.Content)
	case *acp.AgentThoughtChunk:
		length = blockLength(u.Content)
	case *acp.ToolCallUpdate:
		for _, part := range u.Content {
			if d, ok := part.(*acp.Diff); ok {
				length += len(d.NewText)
				if d.OldText != nil {
					length += len(*d.OldText)
				}
			}
		}
	case *acp.Plan:
		for _, e := range u.Entries {
			length += len(e.Content)
		}
	}
	return length
}

func blockLength(b acp.ContentBlock) int {
	if t, ok := b.(*acp.TextContent); ok {
		return len(t.Text)
	}
	return 0
}

func (c *benchClient) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: c.env.Files[req.Path]}, nil
}

// HandleExtension answers work.SyncMethod, the only extension.
func (c *benchClient) HandleExtension(ctx context.Context, _ string, params json.RawMessage) (any, error) {
	return c.env.HandleSync(ctx, params)
}
