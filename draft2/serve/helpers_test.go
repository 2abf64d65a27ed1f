package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// seen records the initialize requests that the agents receive.
type seen struct {
	mu   sync.Mutex // guards the fields below
	list []string
}

func (s *seen) add(version int, req any) {
	raw, err := json.Marshal(req)
	if err != nil {
		raw = []byte(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, fmt.Sprintf("v%d %s", version, raw))
}

func (s *seen) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// both returns an agent for each version.
func (s *seen) both() *serve.Agents {
	return &serve.Agents{
		V1: func(*agent.Conn) acp.Agent {
			return &peertest.Agent{OnInitialize: func(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
				s.add(1, req)
				return nil, nil
			}}
		},
		V2: func(conn *agent2.Conn) acp2.Agent { return &agentV2{seen: s, conn: conn} },
	}
}

// agentV2 is an agent of version 2.
type agentV2 struct {
	agent2.NoHistory
	seen *seen
	conn *agent2.Conn
}

func (a *agentV2) Initialize(_ context.Context, req *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	a.seen.add(2, req)
	return &acp2.InitializeResponse{
		Info:         acp2.Implementation{Name: "a", Version: "1"},
		Capabilities: &acp2.AgentCapabilities{Session: &acp2.SessionCapabilities{}},
	}, nil
}

func (a *agentV2) NewSession(context.Context, *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	return &acp2.NewSessionResponse{SessionID: "two"}, nil
}

func (a *agentV2) ResumeSession(ctx context.Context, req *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	return nil, a.conn.Session(req.SessionID).SendState(ctx)
}

func (a *agentV2) Prompt(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	return a.conn.Session(req.SessionID).Accept(ctx, req, func(context.Context) (acp2.StopReason, error) {
		return acp2.StopReasonEndTurn, nil
	})
}

// discarding discards the log.
var discarding = &serve.Options{Logger: slog.New(slog.DiscardHandler)}

// serving serves agents to a client that the test plays. end ends both.
func serving(t *testing.T, agents *serve.Agents) (client *rawpeer.Peer, end func()) {
	t.Helper()
	far, p := rawpeer.Pipe(t)
	served := make(chan error, 1)
	go func() { served <- serve.Route(t.Context(), far, agents, discarding) }() // ends with the client
	return p, func() {
		p.Close()
		require.NoError(t, <-served)
	}
}

// scene runs test in a bubble, as the client of a router.
func scene(t *testing.T, agents *serve.Agents, test func(p *rawpeer.Peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, end := serving(t, agents)
		test(p)
		end()
	})
}
