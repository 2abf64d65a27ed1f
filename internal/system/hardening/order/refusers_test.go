package order_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	onagent "github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/client"
	onclient "github.com/acpkit/go-sdk/client/onjsonrpc2"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// refuser is an end under test, and the peer that plays raw lines to it.
type refuser struct {
	peer  *rawpeer.Peer
	calls *atomic.Int32 // of the handlers, except those of initialize and extensions
}

// plays reports whether there is such an end of that version.
func (p profile) plays(version int, to string) bool {
	switch p {
	case onLibrary:
		return version == 1 && to != "agent that checks ids"
	case throughAdapter:
		return version == 2 && strings.HasPrefix(to, "agent")
	case throughRouter:
		return !strings.HasPrefix(to, "client")
	case withConnect:
		return strings.HasPrefix(to, "client")
	}
	return true
}

// newRefuser connects the end that to names, and initializes it unless to says otherwise.
func newRefuser(t *testing.T, over profile, version int, to string) *refuser {
	var near, far stream.Stream
	if over == overWebSocket || over == overHTTP {
		near, far = over.connect(t)
	} else {
		near, far = stream.Pipe()
	}
	if over == throughProxy {
		proxy := pairtest.Proxy
		if version == 2 {
			proxy = func(t testing.TB, below stream.Stream, _ pairtest.Setup) stream.Stream {
				return pairtest2.Proxy(t, below, pairtest2.Setup{})
			}
		}
		if strings.HasPrefix(to, "client") {
			near = proxy(t, near, pairtest.Setup{})
		} else {
			far = proxy(t, far, pairtest.Setup{})
		}
	}
	e := &refuser{peer: rawpeer.New(t, far), calls: new(atomic.Int32)}
	do := func(_ context.Context, method string, _ any) (any, error) {
		switch {
		case method == "initialize", strings.HasPrefix(method, "_"):
			return nil, nil
		case to != "agent whose author refuses":
			e.calls.Add(1)
			return nil, nil
		case method == "providers/disable":
			return nil, rpcerr.InvalidParams(nil)
		}
		return nil, rpcerr.SessionNotFound("s")
	}
	if strings.HasPrefix(to, "client") {
		e.newClient(t, over, near, version, to, do)
		return e
	}
	if over == onLibrary {
		e.onLibrary(t, near, to, do)
		return e
	}
	a := refusingAgents{do: do, to: to}
	params := peertest.Params["initialize"]
	if version == 2 {
		params = peertest2.Params["initialize"]
	}
	if over == throughRouter || over == throughAdapter {
		ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
		served := make(chan error, 1)
		opts := &serve.Options{V1: a.options1(), V2: a.options2(), Logger: quiet}
		go func() { // ends with ctx
			switch {
			case over == throughAdapter:
				served <- serve.Serve(ctx, near, func(*agent.Conn) acp.Agent { return a.v1() }, opts)
			case version == 1:
				served <- serve.Route(ctx, near, &serve.Agents{V1: func(*agent.Conn) acp.Agent { return a.v1() }}, opts)
			default:
				served <- serve.Route(ctx, near, &serve.Agents{V2: func(*agent2.Conn) acp2.Agent { return a.v2() }}, opts)
			}
		}()
		t.Cleanup(func() { end(); <-served })
		e.begin(to, params)
		return e
	}
	if version == 1 {
		rawpeer.Start(t, agent.New(near, func(*agent.Conn) acp.Agent { return a.v1() }, a.options1()))
	} else {
		rawpeer.Start(t, agent2.New(near, func(*agent2.Conn) acp2.Agent { return a.v2() }, a.options2()))
	}
	e.begin(to, params)
	return e
}

var quiet = slog.New(slog.DiscardHandler)

// The ends that are reached through or made with something else.
const (
	throughProxy   profile = "proxy"
	throughRouter  profile = "draft2/serve"
	throughAdapter profile = "adapter"
	withConnect    profile = "draft2/connect"
)

// onLibrary is an end on a connection of sourcegraph/jsonrpc2, which has version 1 alone.
const onLibrary profile = "jsonrpc2"

func newConn(t *testing.T, s stream.Stream, h jsonrpc2.Handler) *jsonrpc2.Conn {
	conn := jsonrpc2.NewConn(context.WithoutCancel(t.Context()), objectstream.Of(s), h, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.Cleanup(func() { _ = conn.Close() }) // the peer may have closed it
	return conn
}

func (e *refuser) onLibrary(t *testing.T, near stream.Stream, to string, do peertest.Do) {
	connect := func(h jsonrpc2.Handler) *jsonrpc2.Conn { return newConn(t, near, h) }
	if strings.HasPrefix(to, "client") {
		conn := connect(onclient.Handler(func(acp.Agent) acp.Client { return &peertest.FullClient{Do: do} }, &onclient.Options{Unstable: true, Logger: quiet}))
		done := make(chan error, 1)
		req := &acp.InitializeRequest{}
		if to == "client" {
			req.ClientCapabilities = client.Capabilities(&peertest.FullClient{})
		}
		go func() { _, err := onclient.Agent(conn).Initialize(t.Context(), req); done <- err }() // ends with the call
		e.peer.Initialize(`{}`)
		require.NoError(t, <-done)
		return
	}
	a := refusingAgents{do: do, to: to}
	connect(onagent.Handler(func(acp.Client) acp.Agent { return a.v1() }, &onagent.Options{Unstable: true, Logger: quiet}))
	e.begin(to, peertest.Params["initialize"])
}

func (e *refuser) begin(to, params string) {
	if !strings.HasSuffix(to, "not initialized") {
		e.peer.Call(`"first"`, "initialize", params)
		e.peer.Next()
	}
}

// newClient starts a client that has every method, and advertises nothing unless to is "client".
func (e *refuser) newClient(t *testing.T, over profile, near stream.Stream, version int, to string, do peertest.Do) {
	closed := to != "client"
	switch over {
	case withConnect:
		e.connect(t, near, version, closed, do)
		return
	case onLibrary:
		e.onLibrary(t, near, to, do)
		return
	}
	done := make(chan error, 1)
	if version == 1 {
		c := rawpeer.Start(t, client.New(near, func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} }, &client.Options{Unstable: true, Logger: quiet}))
		req := &acp.InitializeRequest{}
		if closed {
			req.ClientCapabilities = &acp.ClientCapabilities{}
		}
		go func() { _, err := c.Initialize(t.Context(), req); done <- err }() // ends with the call
		e.peer.Initialize(`{}`)
	} else {
		c := rawpeer.Start(t, client2.New(near, func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} }, &client2.Options{Unstable: true, Logger: quiet}))
		req := &acp2.InitializeRequest{}
		if closed {
			req.Capabilities = &acp2.ClientCapabilities{}
		}
		go func() { _, err := c.Initialize(t.Context(), req); done <- err }() // ends with the call
		e.peer.Answer(e.peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"n","version":"v"},"capabilities":{}}`)
	}
	require.NoError(t, <-done)
}

// connect is newClient for package draft2/connect.
func (e *refuser) connect(t *testing.T, near stream.Stream, version int, closed bool, do peertest.Do) {
	opts := &connect.Options{
		V1: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} }, ConnV1: &client.Options{Unstable: true},
		V2: func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} }, ConnV2: &client2.Options{Unstable: true},
		InitializeV1: &acp.InitializeRequest{ClientCapabilities: client.Capabilities(&peertest.FullClient{})},
		InitializeV2: &acp2.InitializeRequest{Capabilities: client2.Capabilities(&peertest2.FullClient{})},
		Only:         version, Logger: quiet,
	}
	if closed {
		opts.InitializeV1.ClientCapabilities, opts.InitializeV2.Capabilities = &acp.ClientCapabilities{}, &acp2.ClientCapabilities{}
	}
	done := make(chan error, 1)
	go func() { // ends with the call
		conn, err := connect.ConnectOver(t.Context(), near, opts)
		if err == nil {
			t.Cleanup(func() { _ = conn.Close() }) // the peer may have closed it
		}
		done <- err
	}()
	if version == 1 {
		e.peer.Initialize(`{}`)
	} else {
		e.peer.Answer(e.peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"n","version":"v"},"capabilities":{}}`)
	}
	require.NoError(t, <-done)
}

// refusingAgents makes the agents under test.
type refusingAgents struct {
	do peertest.Do
	to string
}

func (r refusingAgents) options1() *agent.Options {
	return &agent.Options{Unstable: true, Logger: quiet, CheckIDs: r.to == "agent that checks ids"}
}

func (r refusingAgents) options2() *agent2.Options {
	return &agent2.Options{Unstable: true, Logger: quiet, CheckIDs: r.to == "agent that checks ids"}
}

func (r refusingAgents) modes(mode acp.SystemPromptMode) bool {
	return r.to == "agent that applies system prompts" || r.to == "agent that appends system prompts" && mode == acp.SystemPromptModeAppend
}

type (
	promptable1 struct {
		peertest.FullAgent
		refusingAgents
	}
	promptable2 struct {
		peertest2.FullAgent
		refusingAgents
	}
	smallAgent2 struct{ acp2.Agent }
)

func (p *promptable1) AppliesSystemPrompt(mode acp.SystemPromptMode) bool { return p.modes(mode) }
func (p *promptable2) AppliesSystemPrompt(mode acp.SystemPromptMode) bool { return p.modes(mode) }

func (a smallAgent2) HandleExtension(_ context.Context, _ string, p json.RawMessage) (any, error) {
	return p, nil
}

func (r refusingAgents) v1() acp.Agent {
	a := &promptable1{refusingAgents: r}
	a.Do = func(ctx context.Context, method string, params any) (any, error) {
		if method != "initialize" {
			return r.do(ctx, method, params)
		}
		caps := &acp.AgentCapabilities{}
		if r.to != "agent that advertises nothing" {
			caps = agent.Capabilities(a)
		}
		if r.to == "agent that takes everything" {
			caps.MCPCapabilities.HTTP = true
		}
		return &acp.InitializeResponse{AgentCapabilities: caps}, nil
	}
	return a
}

func (r refusingAgents) v2() acp2.Agent {
	full := peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		if method == "initialize" && r.to == "agent that advertises nothing" {
			return &acp2.InitializeResponse{Info: acp2.Implementation{Name: "n", Version: "v"}, Capabilities: &acp2.AgentCapabilities{}}, nil
		}
		if method == "initialize" && r.to == "agent that takes everything" {
			return &acp2.InitializeResponse{Info: acp2.Implementation{Name: "n", Version: "v"}, Capabilities: &acp2.AgentCapabilities{Session: &acp2.SessionCapabilities{
				Fork: &acp2.SessionForkCapabilities{}, MCP: &acp2.MCPCapabilities{Stdio: &acp2.MCPStdioCapabilities{}, HTTP: &acp2.MCPHTTPCapabilities{}},
			}}}, nil
		}
		return r.do(ctx, method, params)
	}}
	if r.to == "small agent" {
		return smallAgent2{&full}
	}
	return &promptable2{full, r}
}
