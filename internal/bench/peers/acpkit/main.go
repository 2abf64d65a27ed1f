// Command acpkit is this SDK in the benchmark, with the options that a user gets
// by default.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/bench/work"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

func main() {
	work.Main(work.Contender{
		Name: "acpkit",
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
		Listen: listen,
		Dial:   dial,
		Pair:   pair,
	})
}

// pair connects both ends in this process: over stream.Pipe, or over io.Pipe
// when the environment says so.
func pair(env *work.Env) (work.Client, error) {
	near, far := stream.Pipe()
	if os.Getenv(work.BytesEnv) != "" {
		n, f := work.Halves()
		near, far = stream.Lines(n, n, nil), stream.Lines(f, f, nil)
	}
	if err := agent.New(far, newAgent, nil).Start(context.Background()); err != nil {
		return nil, err
	}
	return newClient(near, env)
}

type benchAgent struct{ conn *agent.Conn }

func newAgent(conn *agent.Conn) acp.Agent { return &benchAgent{conn} }

var corpus = work.Corpora(func(n acp.SessionNotification) acp.SessionUpdate { return n.Update })

func (a *benchAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (a *benchAgent) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: work.SessionID}, nil
}

func (a *benchAgent) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return &acp.LoadSessionResponse{}, work.RunLoad(ctx, a, string(req.SessionID))
}

func (a *benchAgent) SetSessionMode(context.Context, *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return &acp.SetSessionModeResponse{}, nil
}

func (a *benchAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := work.RunTask(ctx, a, string(req.SessionID), acp.PlainText(req.Prompt...)); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *benchAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// HandleExtension answers work.MarkMethod, the only extension.
func (a *benchAgent) HandleExtension(_ context.Context, _ string, _ json.RawMessage) (any, error) {
	return work.Mark(true), nil
}

// Update implements work.Agent, like ReadFile and Sync.
func (a *benchAgent) Update(ctx context.Context, kind, sessionID string, i int) error {
	return a.conn.SessionUpdate(ctx, &acp.SessionNotification{
		SessionID: acp.SessionID(sessionID),
		Update:    corpus(kind, i),
	})
}

func (a *benchAgent) ReadFile(ctx context.Context, sessionID, path string) (int, error) {
	res, err := a.conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: acp.SessionID(sessionID), Path: path})
	if err != nil {
		return 0, err
	}
	return len(res.Content), nil
}

func (a *benchAgent) Sync(ctx context.Context, params work.SyncParams) error {
	return a.conn.Call(ctx, work.SyncMethod, params, nil)
}

// listen serves over WebSocket and HTTP until stdin ends.
func listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/acp\n", listener.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with stdin
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, newAgent, nil)
	}, nil).Serve(ctx, listener)
}

func dial(url string, env *work.Env) (work.Client, error) {
	s, err := remote.Dial(context.Background(), url, nil)
	if err != nil {
		return nil, err
	}
	return newClient(s, env)
}

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
