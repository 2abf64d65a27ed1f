package agent_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// library is a client with one long file.
type library struct{ peertest.Client }

func (*library) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: strings.Repeat("line\n", 20_000)}, nil
}

// The results of calls can be collected as soon as the handler drops them. So a prompt that reads
// files for hours does not fill the memory.
func TestResultsAreCollectedWhileAPromptRuns(t *testing.T) {
	const files = 8
	collected := make(chan struct{}, files)
	p := open(t, func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			for range files {
				res, err := conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: req.SessionID, Path: "/long"})
				if err != nil {
					return nil, err
				}
				runtime.AddCleanup(res, func(c chan struct{}) { c <- struct{}{} }, collected)
			}
			for deadline := time.Now().Add(10 * time.Second); len(collected) < files && time.Now().Before(deadline); {
				runtime.GC()
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}}
	}, &library{}, nil)
	_, err := p.client.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	_, err = p.client.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("go")}})
	require.NoError(t, err)
	assert.Len(t, collected, files)
}
