package agent

import (
	"cmp"
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// peer is what the client reported about itself.
type peer struct {
	version int // 0 until the agent has returned its response to initialize
	info    *acp.Implementation
	caps    *acp.ClientCapabilities
}

// remoteAgent is implemented by a connection to an agent, which is a *client.Conn or a struct that
// embeds one. An agent in this process does not implement it.
type remoteAgent interface {
	AgentCapabilities() *acp.AgentCapabilities
	Call(ctx context.Context, method string, params, result any) error
	Done() <-chan struct{}
}

// initialize calls the agent, and completes and checks its response.
func (c *Conn) initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	before := c.peer.Load()
	now := &peer{info: req.ClientInfo, caps: cmp.Or(req.ClientCapabilities, &acp.ClientCapabilities{})}
	c.peer.Store(now) // the agent's Initialize may read it and call the client
	response, err := c.agent.Initialize(ctx, req)
	if err != nil {
		c.peer.Store(before)
		return nil, err
	}
	res := endpoint.ValueOf(response)
	if !c.remote {
		c.complete(&res)
	}
	if err := c.checkAdvertised(res.AgentCapabilities); err != nil {
		c.peer.Store(before)
		if !rpc.AfterResponse(ctx, func() { c.broken.End(&c.engine, err) }) {
			c.broken.End(&c.engine, err)
		}
		return nil, rpcerr.InternalError(nil).WithCause(err)
	}
	c.told.Store(res.AgentCapabilities)
	ready := *now
	ready.version = int(res.ProtocolVersion)
	c.peer.Store(&ready)
	return &res, nil
}

// complete sets the members of the response that the agent left empty. It is not called for a
// proxy, which passes on the response of another agent.
func (c *Conn) complete(res *acp.InitializeResponse) {
	if res.AgentCapabilities == nil {
		res.AgentCapabilities = c.capabilities()
	}
	if res.ProtocolVersion != acp.ProtocolVersion {
		if res.ProtocolVersion != 0 {
			// Some agents return the requested version unchecked, and the client would rely on it.
			c.log.Warn("acp: the agent returned a protocol version that this SDK does not support: return 0 or the supported version",
				"answered", res.ProtocolVersion, "corrected", acp.ProtocolVersion)
		}
		res.ProtocolVersion = acp.ProtocolVersion
	}
}

// checkAdvertised returns an error if the agent advertises a capability and does not implement its
// method.
func (c *Conn) checkAdvertised(caps *acp.AgentCapabilities) error {
	if c.remote {
		return nil // a connection has all methods
	}
	if p, broken := c.table.Broken(promises, caps.Has); broken {
		return fmt.Errorf("agent: Initialize advertises %s, but %T does not implement %s (%s) or does not serve it: serve it or do not advertise the capability",
			p.Capability, c.agent, p.Role, p.Method)
	}
	return nil
}

// ProtocolVersion returns the negotiated version of the protocol, or 0 before the client
// has initialized the connection.
func (c *Conn) ProtocolVersion() int {
	return endpoint.ValueOf(c.peer.Load()).version
}

// PeerInfo returns the name and version that the client sent when it initialized the
// connection. It returns nil before that, and if the client sent none. The result is
// shared and must not be modified.
func (c *Conn) PeerInfo() *acp.Implementation {
	return endpoint.ValueOf(c.peer.Load()).info
}

// ClientCapabilities returns the capabilities that the client advertised when it
// initialized the connection, or nil before that. They are available when the agent's
// Initialize is called. The result is shared and must not be modified.
func (c *Conn) ClientCapabilities() *acp.ClientCapabilities {
	return endpoint.ValueOf(c.peer.Load()).caps
}

// Capabilities returns the capabilities that follow from the optional interfaces
// which a serves (see [acp.Selective]): that of [acp.SessionDeleter] for an agent that can
// delete sessions, that of [acp.SystemPromptApplier] for one that applies system prompts, and so on. A Conn sends them in its response to initialize if the agent's response has none.
//
// Capabilities that have no interface, such as the kinds of content in a prompt or the MCP
// transports, are not included. To advertise them, set their members in the result.
//
// If a is or wraps a connection to an agent, Capabilities returns what that agent advertised,
// or nil before it is known.
func Capabilities(a acp.Agent) *acp.AgentCapabilities {
	if r, ok := endpoint.Innermost(a).(remoteAgent); ok {
		return r.AgentCapabilities()
	}
	conn := &Conn{agent: a}
	conn.table.Unstable = true // an unstable interface without the option is an error of Start
	if !endpoint.IsNil(a) {
		conn.addRows(&conn.table)
	}
	return conn.capabilities()
}

// capabilities returns the capabilities that follow from the rows.
func (c *Conn) capabilities() *acp.AgentCapabilities {
	caps := &acp.AgentCapabilities{}
	advertise(caps, &c.table)
	c.advertisePrompts(caps)
	return caps
}
