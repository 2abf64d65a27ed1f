// Command acpkit is this SDK in the benchmark, with the options that a user gets
// by default.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
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

// Say implements work.Speaker.
func (a *benchAgent) Say(ctx context.Context, sessionID, text string) error {
	return a.conn.SessionUpdate(ctx, &acp.SessionNotification{
		SessionID: acp.SessionID(sessionID),
		Update:    &acp.AgentMessageChunk{Content: acp.Text(text)},
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
