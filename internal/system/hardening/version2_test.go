package hardening_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// testAgent2 is testAgent in version 2.
type testAgent2 struct {
	echoes
	conn     *agent2.Conn
	onPrompt func(context.Context, *acp2.PromptRequest) (*acp2.PromptResponse, error)
	onOther  func() error // what the other methods return
}

func (a *testAgent2) other() error {
	if a.onOther != nil {
		return a.onOther()
	}
	return nil
}

func (a *testAgent2) Initialize(context.Context, *acp2.InitializeRequest) (*acp2.InitializeResponse, error) {
	return &acp2.InitializeResponse{Info: acp2.Implementation{Name: "a", Version: "1"}}, nil
}

func (a *testAgent2) NewSession(context.Context, *acp2.NewSessionRequest) (*acp2.NewSessionResponse, error) {
	return &acp2.NewSessionResponse{SessionID: "s1"}, a.other()
}

func (a *testAgent2) ListSessions(context.Context, *acp2.ListSessionsRequest) (*acp2.ListSessionsResponse, error) {
	return nil, a.other()
}

func (a *testAgent2) ResumeSession(context.Context, *acp2.ResumeSessionRequest) (*acp2.ResumeSessionResponse, error) {
	return nil, a.other()
}

func (a *testAgent2) CloseSession(context.Context, *acp2.CloseSessionRequest) (*acp2.CloseSessionResponse, error) {
	return nil, a.other()
}

func (a *testAgent2) Prompt(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	if a.onPrompt != nil {
		return a.onPrompt(ctx, req)
	}
	return &acp2.PromptResponse{MessageID: "m"}, a.other()
}

func (a *testAgent2) Cancel(context.Context, *acp2.CancelSessionNotification) error { return a.other() }

// testClient2 is testClient in version 2.
type testClient2 struct {
	echoes
	onUpdate func(acp2.SessionUpdate)
	fail     func() error // what its methods return
}

func (c *testClient2) RequestPermission(context.Context, *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	if c.fail != nil {
		return nil, c.fail()
	}
	return acp2.Cancelled(), nil
}

func (c *testClient2) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
	if c.onUpdate != nil {
		c.onUpdate(n.Update)
	}
	if c.fail != nil {
		return c.fail()
	}
	return nil
}

// startAgent2 returns the peer of an agent that has been initialized.
func startAgent2(t testing.TB, a *testAgent2, opts *agent2.Options, lines *stream.LinesOptions) (*agent2.Conn, *echoPeer) {
	t.Helper()
	return startAnyAgent2(t, func(conn *agent2.Conn) acp2.Agent { a.conn = conn; return a }, opts, lines)
}

func startAnyAgent2(t testing.TB, newAgent func(*agent2.Conn) acp2.Agent, opts *agent2.Options, lines *stream.LinesOptions) (*agent2.Conn, *echoPeer) {
	t.Helper()
	c, p := startEnd(t, lines, agent2.New, newAgent, opts)
	p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
	require.Equal(t, "ok 0", p.Next().String())
	return c, p
}

// startRouted returns the peer of an agent of version 2 that a router has chosen.
func startRouted(t testing.TB, lines *stream.LinesOptions) *echoPeer {
	t.Helper()
	agents := &serve.Agents{
		V1: func(*agent.Conn) acp.Agent { return &testAgent{} },
		V2: func(*agent2.Conn) acp2.Agent { return &testAgent2{} },
	}
	return serve2(t, lines, func(ctx context.Context, s stream.Stream) error { return serve.Route(ctx, s, agents, nil) })
}

// startAdapted returns the peer of an agent of version 1 that serves a client of version 2.
func startAdapted(t testing.TB, lines *stream.LinesOptions) *echoPeer {
	t.Helper()
	newV2 := adapter.FromV1(func(*agent.Conn) acp.Agent { return &testAgent{} }, nil)
	return serve2(t, lines, func(ctx context.Context, s stream.Stream) error { return agent2.Serve(ctx, s, newV2, nil) })
}

// serve2 serves a peer that speaks version 2, and initializes the connection.
func serve2(t testing.TB, lines *stream.LinesOptions, serve func(context.Context, stream.Stream) error) *echoPeer {
	t.Helper()
	p, in, out := newEchoPeer(t)
	served := make(chan error, 1)
	go func() { served <- serve(context.Background(), stream.Lines(in, out, lines)) }() // ends with p
	t.Cleanup(func() {
		p.Close()
		<-served
	})
	p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
	require.Equal(t, "ok 0", p.Next().String())
	return p
}

// startClient2 returns a client that has been initialized, and its peer.
func startClient2(t testing.TB, cl acp2.Client, opts *client2.Options, lines *stream.LinesOptions) (*client2.Conn, *echoPeer) {
	t.Helper()
	c, p := startEnd(t, lines, client2.New, func(*client2.Conn) acp2.Client { return cl }, opts)
	callOK(t, func() error {
		return pairtest.Err(c.Initialize(t.Context(), &acp2.InitializeRequest{Info: acp2.Implementation{Name: "c", Version: "1"}}))
	}, func() {
		p.Answer(p.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`)
	})
	return c, p
}
