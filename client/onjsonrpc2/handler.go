// Package onjsonrpc2 runs an acp.Client on a connection of github.com/sourcegraph/jsonrpc2, for
// programs that have such a connection or want the smallest stack. Experimental: it may change in any
// release. Others use package client. Which promises of package acp hold is in the table of package
// agent/onjsonrpc2. For a client the first row matters most: Prompt may return before SessionUpdate
// was called with the last updates, and a question before the update that explains it.
//
// Package client has no counterpart here for sessions, turns, middleware and Shutdown.
package onjsonrpc2

import (
	"cmp"
	"context"
	"log/slog"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/libconn"
	"github.com/acpkit/go-sdk/internal/params"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Options configure [Handler], which copies them. Their fields mean the same as those of client.Options.
type Options struct {
	Unstable bool
	Logger   *slog.Logger
}

// Handler returns a handler for jsonrpc2.NewConn; do not wrap it in jsonrpc2.AsyncHandler. It serves any number of
// connections, and calls newClient with the first message of each. newClient gets what [Agent] returns and must not
// call it. If its result cannot be served, every request fails with -32603 and the log says why.
func Handler(newClient func(acp.Agent) acp.Client, opts *Options) jsonrpc2.Handler {
	o := endpoint.ValueOf(opts)
	cfg := config
	cfg.Logger = o.Logger
	return libconn.New(cfg, o.Unstable, newClient, Agent, func(conn *jsonrpc2.Conn, c acp.Client, t *endpoint.Table) {
		(&end{c}).addRows(t)
		refuse(conn, t)
	})
}

var config = rpc.Config{
	Role: "client", Invalid: invalid,
	Defined: func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
}

// Agent returns the agent at the other end of conn. It implements every optional interface of acp.Agent:
//
//	_, err := agent.(acp.Authenticator).Authenticate(ctx, req)
//
// Initialize sends the capabilities of its request, and the client of [Handler] then refuses what they do not have.
// Initialize fails if the agent speaks another version. If the ctx of Prompt
// ends, session/cancel is sent. Agent has no state: several may be made for one connection.
func Agent(conn *jsonrpc2.Conn) acp.Agent {
	c := &remote{Peer: libconn.NewPeer(conn, config)}
	c.out = endpoint.Sender{Engine: &c.Peer, Guard: func(_ *wire.Method, params any) error {
		if p, ok := params.(*acp.InitializeRequest); ok && conn != nil {
			tell(conn, p.ClientCapabilities)
		}
		return nil
	}}
	return c
}

func (c *remote) initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	r := endpoint.ValueOf(req)
	r.ProtocolVersion = cmp.Or(r.ProtocolVersion, acp.ProtocolVersion)
	res, err := methodInitialize.Call(ctx, &c.out, &r, nil)
	if err == nil && res.ProtocolVersion != acp.ProtocolVersion {
		return nil, &acp.VersionError{Requested: int(r.ProtocolVersion), Own: []int{acp.ProtocolVersion}, Answered: int(res.ProtocolVersion)}
	}
	return res, err
}

func (c *remote) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	return methodPrompt.Call(ctx, &c.out, req, &rpc.CallOptions{OnCtxDone: func() {
		_ = c.Cancel(context.WithoutCancel(ctx), &acp.CancelNotification{SessionID: req.SessionID}) // the connection may have ended
	}})
}

// end handles the messages of one connection.
type end struct{ client acp.Client }

func (*end) createElicitation(h acp.Elicitor) func(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return h.CreateElicitation
}

// told has what was advertised on each connection, as *acp.ClientCapabilities. The results of Handler and
// Agent know nothing of each other but the connection.
var told sync.Map

// tell stores what is advertised on conn until it ends.
func tell(conn *jsonrpc2.Conn, caps *acp.ClientCapabilities) {
	if _, again := told.Swap(conn, cmp.Or(caps, &acp.ClientCapabilities{})); !again {
		go func() { // ends with the connection
			<-conn.DisconnectNotify()
			told.Delete(conn)
		}()
	}
}

// refuse changes the rows of t so that they refuse what was not advertised on conn, and what the protocol
// obliges a client to refuse.
func refuse(conn *jsonrpc2.Conn, t *endpoint.Table) {
	told := func() *acp.ClientCapabilities {
		caps, _ := told.Load(conn)
		known, _ := caps.(*acp.ClientCapabilities)
		return known
	}
	rules.Refuse(t, acp.MethodElicitationCreate,
		func(capability string) bool { caps := told(); return caps == nil || caps.Has(capability) },
		func(p any) *rpcerr.RequestError { return params.Client(told(), p) })
	params.MCPMessages(t)
}
