package agent_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// TestMain discards the log of the tests.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// pair is an agent and a client that are connected.
type pair struct {
	agent  *agent.Conn
	client *client.Conn
}

// connect connects an agent made by newAgent with a client, and starts both ends.
func connect(t *testing.T, newAgent func(*agent.Conn) acp.Agent, c acp.Client, opts *agent.Options) *pair {
	t.Helper()
	as, cs := stream.Pipe()
	return &pair{
		agent:  rawpeer.Start(t, agent.New(as, newAgent, opts)),
		client: rawpeer.Start(t, client.New(cs, func(*client.Conn) acp.Client { return c }, &client.Options{Unstable: true})),
	}
}

// open connects and initializes. caps is what the client advertises; if nil, it is what the client
// implements.
func open(t *testing.T, newAgent func(*agent.Conn) acp.Agent, c acp.Client, caps *acp.ClientCapabilities) *pair {
	t.Helper()
	p := connect(t, newAgent, c, &agent.Options{Unstable: true})
	_, err := p.client.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: caps})
	require.NoError(t, err)
	return p
}

// rawClient starts an agent, and initializes its connection to a client that the test plays.
func rawClient(t *testing.T, newAgent func(*agent.Conn) acp.Agent, opts *agent.Options) (*agent.Conn, *rawpeer.Peer) {
	t.Helper()
	s, peer := rawpeer.Pipe(t)
	c := rawpeer.Start(t, agent.New(s, newAgent, opts))
	peer.Call("0", "initialize", `{"protocolVersion":1}`)
	peer.Recv()
	return c, peer
}

// inPrompt runs f in the Prompt of an agent, with its Session, and returns how the turn ended.
func inPrompt(t *testing.T, c acp.Client, caps *acp.ClientCapabilities, f func(context.Context, *agent.Session) error) (*acp.PromptResponse, error) {
	t.Helper()
	p := open(t, func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			if err := f(ctx, conn.Session(req.SessionID)); err != nil {
				return nil, err
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}}
	}, c, caps)
	_, err := p.client.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	return p.client.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("go")}})
}

func good(*agent.Conn) acp.Agent { return &peertest.Agent{} }
