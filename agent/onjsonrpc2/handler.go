// Package onjsonrpc2 serves an acp.Agent on a connection of github.com/sourcegraph/jsonrpc2, for
// programs that have such a connection or want the smallest stack. Experimental: it may change in any
// release. Others use package agent.
//
// Of the promises of package acp, these hold: notifications are handled one at a time, in their
// order; what a handler sends is written before its response; handlers may call the client to any
// depth; each request is answered once, also when its handler panics; params and results are checked;
// before initialize only initialize is served. These do not hold, or differ:
//
//	what overtakes      a request may overtake notifications that arrived before it, and the
//	                    response to a call overtakes those that still wait for their handler
//	ids -1, 1.5, null   held over objectstream.Of alone: a stream of the library answers -1 with
//	                    another id, ends with 1.5, and takes a request with null for a notification
//	members twice       the last one in params counts, because the library decodes them first
//	limits              none: for what waits, handlers that run, unread output, and the length and
//	                    depth of messages (objectstream.Of has the last two); a sender that
//	                    waits for a peer that does not read waits beyond its ctx
//	the end             the end of input and each error end all contexts at once: what was asked
//	                    before is not answered. Over streams of the library a line that is not a
//	                    message is such an error; objectstream.Of answers it
//	session/cancel      ends the ctx of the session's prompts when it is read; Cancel may be called
//	                    before Prompt is
//	ctx of a call       when it ends, $/cancel_request is sent and the call returns
//	capabilities        calls do not check whether the client advertised them; what the agent did
//	                    not advertise is refused, and it advertises system prompts itself
//	errors of the end   calls wrap acp.ErrClosed; only the library's log has the reason
//
// Package agent has no counterpart here for sessions, middleware, AfterResponse and Shutdown.
package onjsonrpc2

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

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

// Options configure [Handler], which copies them. Their fields mean the same as those of agent.Options.
type Options struct {
	Unstable     bool
	LenientPaths bool
	Logger       *slog.Logger
}

// Handler returns a handler for jsonrpc2.NewConn; do not wrap it in jsonrpc2.AsyncHandler. It serves any number of
// connections, and calls newAgent with the first message of each. newAgent gets what [Client] returns and must not
// call it. If its result cannot be served, every request fails with -32603 and the log says why.
func Handler(newAgent func(acp.Client) acp.Agent, opts *Options) jsonrpc2.Handler {
	o := endpoint.ValueOf(opts)
	cfg := config
	cfg.LenientPaths, cfg.Logger = o.LenientPaths, o.Logger
	return libconn.New(cfg, o.Unstable, newAgent, Client, func(_ *jsonrpc2.Conn, a acp.Agent, t *endpoint.Table) {
		e := &end{agent: a, table: t}
		e.addRows(t)
		rules.Refuse(t, "", func(capability string) bool { return e.told.Load().Has(capability) }, func(p any) *rpcerr.RequestError {
			return params.Rules.Agent(e.told.Load().Has, p, false)
		})
		t.Entry(methodPrompt.Method).Ended = func() any { return &acp.PromptResponse{StopReason: acp.StopReasonCancelled} }
	})
}

var config = rpc.Config{
	Role: "agent", Handshake: acp.MethodInitialize, Invalid: invalid,
	Defined: func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
}

// Client returns the client at the other end of conn. It implements every optional interface of acp.Client:
//
//	file, err := client.(acp.TextFileReader).ReadTextFile(ctx, req)
//
// It is safe for concurrent use, and has no state: several may be made for one connection.
func Client(conn *jsonrpc2.Conn) acp.Client {
	c := &remote{Peer: libconn.NewPeer(conn, config)}
	c.out = endpoint.Sender{Engine: &c.Peer, Guard: func(_ *wire.Method, params any) error {
		if p, ok := params.(*acp.CreateElicitationRequest); ok {
			if url, ok := p.Mode.(*acp.ElicitationURLMode); ok && url != nil {
				return endpoint.CheckWebURL(url.URL)
			}
		}
		return nil
	}}
	return c
}

// end handles the messages of one connection.
type end struct {
	agent acp.Agent
	table *endpoint.Table
	told  atomic.Pointer[acp.AgentCapabilities] // what the agent has advertised
}

// initialize calls the agent, and completes and checks its response.
func (c *end) initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	response, err := c.agent.Initialize(ctx, req)
	if err != nil {
		return nil, err
	}
	res := endpoint.ValueOf(response)
	res.ProtocolVersion = acp.ProtocolVersion
	if res.AgentCapabilities == nil {
		res.AgentCapabilities = &acp.AgentCapabilities{}
		advertise(res.AgentCapabilities, c.table)
	}
	if p, broken := c.table.Broken(promises, res.AgentCapabilities.Has); broken {
		return nil, rpcerr.InternalError(nil).WithCause(fmt.Errorf("onjsonrpc2: Initialize advertises %s without %s", p.Capability, p.Role))
	}
	c.told.Store(res.AgentCapabilities)
	return &res, nil
}
