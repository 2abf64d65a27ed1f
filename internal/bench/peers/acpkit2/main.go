// Command acpkit2 is this SDK in the benchmark with version 2 of the protocol. It does
// the work "updates", to compare what an update costs in the two versions.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"

	acp1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
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
