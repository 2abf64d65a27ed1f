package agent

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// peer is what the client said of itself.
type peer struct {
	version int // 0 until the answer to initialize is on its way
	info    *acp.Implementation
	caps    *acp.ClientCapabilities
}

// remoteAgent is what tells a connection to an agent (a *client.Conn, or a struct
// that embeds one) from an agent that lives here.
type remoteAgent interface {
	AgentCapabilities() *acp.AgentCapabilities
	Call(ctx context.Context, method string, params, result any) error
	Done() <-chan struct{}
}

// initialize stands between the client's request and the agent's answer.
func (c *Conn) initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	before := c.peer.Load()
	now := &peer{info: req.ClientInfo, caps: req.ClientCapabilities}
	if now.caps == nil {
		now.caps = &acp.ClientCapabilities{}
	}
	c.peer.Store(now) // the agent may ask for it, and call the client, while it answers
	answer, err := c.agent.Initialize(ctx, req)
	if err != nil {
		c.peer.Store(before)
		return nil, err
	}
	var res acp.InitializeResponse
	if answer != nil {
		res = *answer
	}
	if !c.remote {
		c.complete(&res)
	}
	if err := c.checkAdvertised(res.AgentCapabilities); err != nil {
		c.peer.Store(before)
		if !rpc.AfterResponse(ctx, func() { c.fail(err) }) {
			c.fail(err)
		}
		return nil, rpcerr.InternalError(nil).WithCause(err)
	}
	ready := *now
	ready.version = int(res.ProtocolVersion)
	c.peer.Store(&ready)
	return &res, nil
}

// complete fills in what the agent left open. A proxy's answer is somebody else's
// and stays as it is.
func (c *Conn) complete(res *acp.InitializeResponse) {
	if res.AgentCapabilities == nil {
		res.AgentCapabilities = Capabilities(c.agent)
	}
	if res.ProtocolVersion != acp.ProtocolVersion {
		if res.ProtocolVersion != 0 {
			// Agents that echo the version they were asked for mean well, but a
			// client would take their word for it.
			c.log.Warn("acp: agent answered a protocol version this SDK does not speak",
				"answered", res.ProtocolVersion, "corrected", acp.ProtocolVersion)
		}
		res.ProtocolVersion = acp.ProtocolVersion
	}
}

// checkAdvertised finds a capability that promises a method the agent lacks.
func (c *Conn) checkAdvertised(caps *acp.AgentCapabilities) error {
	if c.remote {
		return nil // a connection has all methods
	}
	for _, b := range methodBits {
		if caps.Has(b.path) && !c.table.Has(b.method) {
			return fmt.Errorf("agent: Initialize advertises %s, but %T does not implement acp.%s (%s)",
				b.path, c.agent, b.role, b.method)
		}
	}
	return nil
}

// ProtocolVersion returns the version of the protocol that was agreed on, and 0
// before the client has initialized the connection.
func (c *Conn) ProtocolVersion() int {
	if p := c.peer.Load(); p != nil {
		return p.version
	}
	return 0
}

// PeerInfo returns the name and version that the client gave when it initialized
// the connection; nil before that, and for clients that give none. It is shared:
// do not change it.
func (c *Conn) PeerInfo() *acp.Implementation {
	if p := c.peer.Load(); p != nil {
		return p.info
	}
	return nil
}

// ClientCapabilities returns what the client advertised when it initialized the
// connection, and nil before that. It is known from the moment the agent's
// Initialize is called. It is shared: do not change it.
func (c *Conn) ClientCapabilities() *acp.ClientCapabilities {
	if p := c.peer.Load(); p != nil {
		return p.caps
	}
	return nil
}
