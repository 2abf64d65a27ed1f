package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
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
	if before != nil && req.ProtocolVersion < acp.ProtocolVersion {
		return nil, rpcerr.InvalidRequest(nil).WithDetail("a repeated initialize must request protocol version 2 or later")
	} else if req.ProtocolVersion < acp.ProtocolVersion {
		return nil, rpcerr.UnsupportedProtocolVersion(int(req.ProtocolVersion), acp.ProtocolVersion)
	}
	now := peer{info: &req.Info, caps: cmp.Or(req.Capabilities, &acp.ClientCapabilities{})}
	c.peer.Store(&now) // the agent's Initialize may read it and call the client
	response, err := c.agent.Initialize(ctx, req)
	if err != nil {
		c.peer.Store(before)
		return nil, err
	}
	res := endpoint.ValueOf(response)
	if !c.remote { // a proxy passes on the response of another agent
		res.Capabilities = cmp.Or(res.Capabilities, c.capabilities())
		if answered := res.ProtocolVersion; answered != 0 && answered != acp.ProtocolVersion {
			// Some agents return the requested version unchecked, and the client would rely on it.
			c.log.Warn("acp: the agent returned a protocol version that this SDK does not support: return 0 or the supported version",
				"answered", answered, "corrected", acp.ProtocolVersion)
		}
		res.ProtocolVersion = acp.ProtocolVersion
		if p, broken := c.table.Broken(promises, res.Capabilities.Has); broken {
			err := fmt.Errorf("agent: Initialize advertises %s, but %T does not implement %s (%s) or does not serve it: serve it or do not advertise the capability",
				p.Capability, c.agent, p.Role, p.Method)
			c.peer.Store(before)
			if !rpc.AfterResponse(ctx, func() { c.broken.End(&c.engine, err) }) {
				c.broken.End(&c.engine, err)
			}
			return nil, rpcerr.InternalError(nil).WithCause(err)
		}
	}
	c.told.Store(res.Capabilities)
	ready := now
	ready.version = int(res.ProtocolVersion)
	c.peer.Store(&ready)
	return &res, nil
}

// decodeInitialize decodes the params of initialize. If the client requests a newer version,
// members that are invalid in this one are left out. A request for an older version is refused, so
// its params are not decoded.
func decodeInitialize(raw []byte) (any, int64, error) {
	members := initializeMembers(raw)
	var requested uint16
	d := wire.NewDecoder(members["protocolVersion"])
	if members["protocolVersion"] == nil || wire.ReadUint(&d, &requested) != nil || requested == acp.ProtocolVersion {
		return methodInitialize.Params.Decode(raw)
	}
	unknown := acp.Implementation{Name: "unknown", Version: "unknown"}
	req := &acp.InitializeRequest{ProtocolVersion: min(requested, acp.ProtocolVersion), Info: unknown}
	if requested > acp.ProtocolVersion {
		req.Capabilities = &acp.ClientCapabilities{}
		if json.Unmarshal(members["info"], &req.Info) != nil || string(members["info"]) == "null" {
			req.Info = unknown
		}
		if json.Unmarshal(members["capabilities"], req.Capabilities) != nil {
			req.Capabilities = &acp.ClientCapabilities{}
		}
		if json.Unmarshal(members["_meta"], &req.Meta) != nil {
			req.Meta = nil
		}
	}
	return req, int64(len(raw)), nil
}

// initializeMembers returns those members of raw that the params of initialize can have, or
// nil if raw is not an object or has one of them more than once.
func initializeMembers(raw []byte) map[string][]byte {
	d := wire.NewDecoder(raw)
	if d.Kind() != '{' {
		return nil
	}
	members := map[string][]byte{}
	o := d.Object()
	for o.Next(&d) {
		name := string(o.Name)
		switch name {
		case "protocolVersion", "info", "capabilities", "_meta":
			var value []byte
			if members[name] != nil || d.Raw(&value) != nil {
				return nil
			}
			members[name] = value
		default:
			d.Skip()
		}
	}
	return members
}

// ProtocolVersion returns the negotiated version of the protocol, or 0 before the client
// has initialized the connection.
func (c *Conn) ProtocolVersion() int { return endpoint.ValueOf(c.peer.Load()).version }

// PeerInfo returns the name and version that the client sent when it initialized the
// connection, or nil before that. The result is shared and must not be modified.
func (c *Conn) PeerInfo() *acp.Implementation { return endpoint.ValueOf(c.peer.Load()).info }

// ClientCapabilities returns the capabilities that the client advertised, or nil before it has
// initialized the connection. They are available when the agent's Initialize is called. The
// result is shared and must not be modified.
func (c *Conn) ClientCapabilities() *acp.ClientCapabilities {
	return endpoint.ValueOf(c.peer.Load()).caps
}

// Capabilities returns the capabilities that follow from the optional interfaces which a
// serves (see [acp.Selective]), and those of sessions. A Conn sends them in its response to
// initialize if the agent's response has none. To advertise others, such as the kinds of content
// in a prompt or the MCP transports, set their members in the result.
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
	caps := &acp.AgentCapabilities{Session: &acp.SessionCapabilities{}} // an [acp.Agent] has the methods of sessions
	advertise(caps, &c.table)
	if appends, overrides := c.promptModes(); appends {
		bit := endpoint.Present(&caps.Session.SystemPrompt)
		if overrides {
			endpoint.Present(&endpoint.Present(&bit.Mode).Override)
		}
	}
	return caps
}

// promptModes returns which modes of a system prompt the agent applies.
func (c *Conn) promptModes() (appends, overrides bool) {
	if a, ok := c.agent.(acp.SystemPromptApplier); ok && !c.remote {
		return a.AppliesSystemPrompt(acp.SystemPromptModeAppend), a.AppliesSystemPrompt(acp.SystemPromptModeOverride)
	}
	return false, false
}
