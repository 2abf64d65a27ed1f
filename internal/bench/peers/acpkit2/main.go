// Command acpkit2 is this SDK in the benchmark with version 2 of the protocol. It does
// the work "updates", to compare what an update costs in the two versions.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"

	acp1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/bench/work"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	work.Main(work.Contender{
		Name: "acpkit-v2",
		Serve: func() error {
			return agent.Serve(context.Background(), stream.Stdio(), newAgent, nil)
		},
		Spawn: func(cmd *exec.Cmd, env *work.Env) (work.Client, error) {
			process, err := stream.Command(cmd, nil)
			if err != nil {
				return nil, err
			}
			return newClient(process, env)
		},
		Pair: func(env *work.Env) (work.Client, error) {
			near, far := stream.Pipe()
			if err := agent.New(far, newAgent, nil).Start(context.Background()); err != nil {
				return nil, err
			}
			return newClient(near, env)
		},
	})
}

type benchAgent struct {
	acp.Agent // nil: the works call none of the methods that are missing here

	conn *agent.Conn
}

func newAgent(conn *agent.Conn) acp.Agent { return &benchAgent{conn: conn} }

// corpus returns the chunks of version 1 with the message id that version 2 requires.
var corpus = work.Corpora(func(n acp1.SessionNotification) acp.SessionUpdate {
	chunk, ok := n.Update.(*acp1.AgentMessageChunk)
	if !ok {
		panic("acpkit2: an update of the corpus is no message chunk")
	}
	return &acp.AgentMessageChunk{MessageID: "m", Content: acp.Text(acp1.PlainText(chunk.Content))}
})

func (a *benchAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "bench", Version: "1"}}, nil
}

func (a *benchAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	return a.conn.Session(req.SessionID).Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		return acp.StopReasonEndTurn, work.RunTask(ctx, a, string(req.SessionID), acp.PlainText(req.Prompt...))
	})
}

// HandleExtension answers work.MarkMethod, the only extension.
func (a *benchAgent) HandleExtension(_ context.Context, _ string, _ json.RawMessage) (any, error) {
	return work.Mark(true), nil
}

// Update implements work.Agent, like ReadFile and Sync.
func (a *benchAgent) Update(ctx context.Context, kind, sessionID string, i int) error {
	return a.conn.SessionUpdate(ctx, &acp.UpdateSessionNotification{
		SessionID: acp.SessionID(sessionID),
		Update:    corpus(kind, i),
	})
}

func (a *benchAgent) ReadFile(context.Context, string, string) (int, error) {
	return 0, errors.New("version 2 has no files")
}

func (a *benchAgent) Sync(ctx context.Context, params work.SyncParams) error {
	return a.conn.Call(ctx, work.SyncMethod, params, nil)
}

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
