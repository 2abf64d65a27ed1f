package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// What the TypeScript SDK's agent of version 2 and its router answered, ours answer too, but
// for differences.
func TestAgent2Vectors(t *testing.T) {
	for _, role := range []string{"agent-v2", "agent-router"} {
		all := vectors(t, role)
		require.NotEmpty(t, all)
		for _, v := range all {
			t.Run(v.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkAgent2(t, &v, role == "agent-router") })
			})
		}
	}
}

func checkAgent2(t *testing.T, v *vector, routed bool) {
	w, r, out := newWire(t)
	f := &fixture2{broken: v.Name == "v2.bad_response_from_handler", caps: &acp2.AgentCapabilities{}}
	if v.Name == "v2.unknown_content_block" { // its prompt arrives only if sessions are advertised
		f.caps.Session = &acp2.SessionCapabilities{}
	}
	s, quiet := stream.Lines(r, out, nil), slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { // ends with ctx
		if routed {
			agents := &serve.Agents{
				V1: func(*agent.Conn) acp.Agent { return &fixture1{f} },
				V2: func(*agent2.Conn) acp2.Agent { return f },
			}
			ended <- serve.Route(ctx, s, agents, &serve.Options{Logger: quiet})
		} else {
			ended <- agent2.Serve(ctx, s, func(*agent2.Conn) acp2.Agent { return f }, &agent2.Options{Logger: quiet})
		}
	}()
	defer func() {
		cancel()
		assert.ErrorIs(t, <-ended, context.Canceled)
	}()

	w.send(v)
	want := v.expected(t)
	compare(t, want.received, w.take(), want.rewrite)
	compareEvents(t, want.events, f.all(), false)

	f.broken = false
	if len(v.AppEvents) == 0 { // no agent was initialized
		w.write([]byte(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}` + "\n"))
		compare(t, []string{`{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":2,"capabilities":{},"info":{"name":"a","version":"1"}}}`}, w.take(), func(message) {})
	}
	w.write([]byte(`{"jsonrpc":"2.0","id":"alive","method":"_t/echo","params":{}}` + "\n"))
	got := w.take()
	require.Len(t, got, 1)
	assert.True(t, strings.HasPrefix(got[0], `{"jsonrpc":"2.0","id":"alive","result":`), "%s", got[0])
}

// fixture2 is the agent of version 2 that the vectors were observed with.
type fixture2 struct {
	broken bool // Initialize returns what cannot be sent
	caps   *acp2.AgentCapabilities

	mu     sync.Mutex // guards events
	events []any
}

func (f *fixture2) event(name string, v any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, map[string]any{name: v})
}

func (f *fixture2) all() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events
}

func (f *fixture2) Initialize(_ context.Context, req *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	if f.broken {
		return &acp2.InitializeResponse{AuthMethods: []acp2.AuthMethod{nil}}, nil
	}
	f.event("init", req)
	return &acp2.InitializeResponse{Capabilities: f.caps, Info: acp2.Implementation{Name: "a", Version: "1"}}, nil
}

func (f *fixture2) NewSession(_ context.Context, req *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	f.event("new", req)
	return &acp2.NewSessionResponse{SessionID: "s1"}, nil
}

func (f *fixture2) ListSessions(context.Context, *acp2.ListSessionsRequest) (*acp2.ListSessionsResponse, error) {
	return nil, nil
}

func (f *fixture2) ResumeSession(context.Context, *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	return nil, nil
}

func (f *fixture2) CloseSession(context.Context, *acp2.CloseSessionRequest) (*acp2.CloseSessionResponse, error) {
	return nil, nil
}

func (f *fixture2) Prompt(_ context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	f.event("prompt", req)
	return &acp2.PromptResponse{MessageID: "m1"}, nil
}

func (f *fixture2) Cancel(context.Context, *acp2.CancelSessionNotification) error { return nil }

func (f *fixture2) HandleExtension(_ context.Context, _ string, params json.RawMessage) (any, error) {
	return map[string]any{"v": 2, "params": params}, nil
}

// fixture1 is the agent of version 1 behind the router of the vectors.
type fixture1 struct{ f *fixture2 }

func (a *fixture1) Initialize(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.f.event("v1init", req)
	return &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{}}, nil
}

func (a *fixture1) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (a *fixture1) Prompt(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *fixture1) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (a *fixture1) HandleExtension(_ context.Context, _ string, params json.RawMessage) (any, error) {
	return map[string]any{"v": 1, "params": params}, nil
}
