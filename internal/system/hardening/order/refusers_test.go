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
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// refuser is an end under test, and the peer that plays raw lines to it.
type refuser struct {
	peer  *rawpeer.Peer
	calls *atomic.Int32 // of the handlers, except those of initialize and extensions
}

// newRefuser connects the end that to names, and initializes it unless to says otherwise.
func newRefuser(t *testing.T, over profile, version int, to string) *refuser {
	var near, far stream.Stream
	if over == "stdio" || over == onLibrary {
		near, far = stream.Pipe()
	} else {
		near, far = over.connect(t)
	}
	e := &refuser{peer: rawpeer.New(t, far), calls: new(atomic.Int32)}
	do := func(_ context.Context, method string, _ any) (any, error) {
		if method != "initialize" && !strings.HasPrefix(method, "_") {
			e.calls.Add(1)
		}
		return nil, nil
	}
	if over == onLibrary {
		e.onLibrary(t, near, to, do)
		return e
	}
	quiet := slog.New(slog.DiscardHandler)
	if strings.HasPrefix(to, "client") {
		e.client(t, near, version, to != "client", do)
		return e
	}
	a := refusingAgents{do: do, to: to}
	if version == 1 {
		rawpeer.Start(t, agent.New(near, func(*agent.Conn) acp.Agent { return a.v1() }, &agent.Options{Unstable: true, Logger: quiet}))
		e.begin(to, peertest.Params["initialize"])
	} else {
		rawpeer.Start(t, agent2.New(near, func(*agent2.Conn) acp2.Agent { return a.v2() }, &agent2.Options{Unstable: true, Logger: quiet}))
		e.begin(to, peertest2.Params["initialize"])
	}
	return e
}

// onLibrary is an end on a connection of sourcegraph/jsonrpc2, which has version 1 alone.
const onLibrary profile = "jsonrpc2"

func (e *refuser) onLibrary(t *testing.T, near stream.Stream, to string, do peertest.Do) {
	quiet := slog.New(slog.DiscardHandler)
	connect := func(h jsonrpc2.Handler) *jsonrpc2.Conn {
		conn := jsonrpc2.NewConn(context.WithoutCancel(t.Context()), objectstream.Of(near), h, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
		t.Cleanup(func() { _ = conn.Close() }) // the peer may have closed it
		return conn
	}
	if to == "client" {
		conn := connect(onclient.Handler(func(acp.Agent) acp.Client { return &peertest.FullClient{Do: do} }, &onclient.Options{Unstable: true, Logger: quiet}))
		done := make(chan error, 1)
		go func() { _, err := onclient.Agent(conn).Initialize(t.Context(), nil); done <- err }() // ends with the call
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

// client starts a client that has every method, and advertises nothing if closed is set.
func (e *refuser) client(t *testing.T, near stream.Stream, version int, closed bool, do peertest.Do) {
	quiet := slog.New(slog.DiscardHandler)
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

// refusingAgents makes the agents under test.
type refusingAgents struct {
	do peertest.Do
	to string
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
		return &acp.InitializeResponse{AgentCapabilities: caps}, nil
	}
	return a
}

func (r refusingAgents) v2() acp2.Agent {
	full := peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		if method == "initialize" && r.to == "agent that advertises nothing" {
			return &acp2.InitializeResponse{Info: acp2.Implementation{Name: "n", Version: "v"}, Capabilities: &acp2.AgentCapabilities{}}, nil
		}
		return r.do(ctx, method, params)
	}}
	if r.to == "small agent" {
		return smallAgent2{&full}
	}
	return &promptable2{full, r}
}
