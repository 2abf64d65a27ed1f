package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/bench/work"
	"github.com/acpkit/go-sdk/stream"
)

// benchClient is the client end of the contender.
type benchClient struct {
	acp.Client // nil: the work does not ask for permission

	conn *client.Conn
	env  *work.Env
	idle chan struct{} // receives when a prompt has ended
}

func newClient(s stream.Stream, env *work.Env) (*benchClient, error) {
	c := &benchClient{env: env, idle: make(chan struct{}, 1)}
	c.conn = client.New(s, func(*client.Conn) acp.Client { return c }, nil)
	return c, c.conn.Start(context.Background())
}

func (c *benchClient) Initialize(ctx context.Context) error {
	_, err := c.conn.Initialize(ctx, nil)
	return err
}

func (c *benchClient) SetMode(context.Context, string, string) error {
	return errors.New("version 2 has no modes")
}

// Prompt returns when the agent has become idle again.
func (c *benchClient) Prompt(ctx context.Context, sessionID, text string) error {
	_, err := c.conn.Prompt(ctx, &acp.PromptRequest{
		SessionID: acp.SessionID(sessionID),
		Prompt:    []acp.ContentBlock{acp.Text(text)},
	})
	if err != nil {
		return err
	}
	select {
	case <-c.idle:
		return nil
	case <-c.conn.Done():
		return c.conn.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *benchClient) Load(context.Context, string) error {
	return errors.New("the work load is for version 1")
}

func (c *benchClient) Mark(ctx context.Context) (m work.Counters, err error) {
	err = c.conn.Call(ctx, work.MarkMethod, nil, &m)
	return m, err
}

func (c *benchClient) Close() error {
	return errors.Join(c.conn.Close(), c.conn.Wait())
}

func (c *benchClient) SessionUpdate(_ context.Context, n *acp.UpdateSessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		if t, ok := u.Content.(*acp.TextContent); ok {
			c.env.Tally.Add(len(t.Text))
		}
	case *acp.SessionStateUpdate:
		if _, ok := u.StateUpdate.(*acp.IdleStateUpdate); ok {
			c.idle <- struct{}{}
		}
	}
	return nil
}

// HandleExtension answers work.SyncMethod, the only extension.
func (c *benchClient) HandleExtension(ctx context.Context, _ string, params json.RawMessage) (any, error) {
	return c.env.HandleSync(ctx, params)
}
