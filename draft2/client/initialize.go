package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/params"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/rpcerr"
)

// peer is what the agent reported about itself.
type peer struct {
	version int
	info    *acp.Implementation
	caps    *acp.AgentCapabilities
	auth    []acp.AuthMethod
}

// remoteClient is implemented by a connection to a client, which is an *agent.Conn or a struct that
// embeds one. A client in this process does not implement it.
type remoteClient interface {
	ClientCapabilities() *acp.ClientCapabilities
	Call(ctx context.Context, method string, params, result any) error
	Done() <-chan struct{}
}

// initialize completes the request, sends it, and stores what the agent reports about itself.
func (c *Conn) initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	r := endpoint.ValueOf(req)
	asked := int(r.ProtocolVersion)
	if c.remote {
		// A proxy must not request a version that it does not support.
		r.ProtocolVersion = min(r.ProtocolVersion, acp.ProtocolVersion)
	} else if c.client != nil {
		r.ProtocolVersion = cmp.Or(r.ProtocolVersion, acp.ProtocolVersion)
		r.Info.Name, r.Info.Version = cmp.Or(r.Info.Name, "unknown"), cmp.Or(r.Info.Version, "unknown")
		if r.Capabilities == nil {
			r.Capabilities = c.capabilities()
		}
		if err := c.checkAdvertised(r.Capabilities); err != nil {
			return nil, err
		}
	}
	c.told.Store(r.Capabilities)
	ctx, kept := rpc.TakeRawResult(ctx)
	limited, stop := endpoint.Limited(ctx, c.opts.Handshake)
	defer stop()
	var raw json.RawMessage
	res, err := methodInitialize.Call(rpc.WithRawResult(limited, &raw), &c.out, &r, &rpc.CallOptions{
		Negotiates: true, // what the agent sends before its response waits until the version is known
		Result: func(res any) { // called before messages after the response are handled
			if res, ok := res.(*acp.InitializeResponse); ok {
				c.setPeer(res)
			}
		},
	})
	if kept != nil {
		*kept = raw
	}
	answered := talk.Answered(raw)
	if err == nil {
		answered = int(res.ProtocolVersion)
	}
	if answered != acp.ProtocolVersion && (err == nil || answered != 0) {
		// The response has the form of its own version, which may differ from ours.
		err = &acp.VersionError{Requested: int(r.ProtocolVersion), Own: []int{acp.ProtocolVersion}, Answered: answered}
	}
	if err != nil {
		network, noise := c.engine.Peer()
		err = endpoint.Silent(ctx, err, c.opts.Handshake, noise, network)
		return nil, c.versionError(err, int(r.ProtocolVersion), asked)
	}
	c.setPeer(res) // a middleware may have changed the response
	return res, nil
}

// setPeer stores what the agent reports about itself, if it supports the version.
func (c *Conn) setPeer(res *acp.InitializeResponse) {
	if res.ProtocolVersion == acp.ProtocolVersion {
		caps := cmp.Or(res.Capabilities, &acp.AgentCapabilities{})
		c.peer.Store(&peer{version: acp.ProtocolVersion, info: &res.Info, caps: caps, auth: res.AuthMethods})
	}
}

// versionError returns an *acp.VersionError for an error of initialize that is about the version, and
// any other error unchanged. asked is the version that the caller requested.
func (c *Conn) versionError(err error, requested, asked int) error {
	e, ok := errors.AsType[*acp.VersionError](err)
	if !ok {
		said, ok := errors.AsType[*rpcerr.RequestError](err)
		if !ok || said.Code != rpcerr.CodeUnsupportedProtocolVersion {
			return err
		}
		var data json.RawMessage
		_ = said.DecodeData(&data) // an agent may omit the data
		e = &acp.VersionError{Requested: requested, Own: []int{acp.ProtocolVersion}, Supported: endpoint.SupportedVersions(data), Err: err}
	}
	if !c.remote || asked == requested {
		return e
	}
	theirs := *e
	theirs.Requested = asked
	return talk.Proxied(e, theirs.RequestError())
}

// refuse changes the rows of t so that they refuse what this client did not advertise, and what the
// protocol obliges it to refuse. What a client behind a connection did not advertise, it refuses itself.
func (c *Conn) refuse(t *endpoint.Table) {
	told := func() *acp.ClientCapabilities {
		if c.remote {
			return nil
		}
		return c.told.Load()
	}
	rules.Refuse(t, acp.MethodElicitationCreate,
		func(capability string) bool { caps := told(); return caps == nil || caps.Has(capability) },
		func(p any) *rpcerr.RequestError { return params.Client(told(), p) })
	if !c.remote {
		params.MCPMessages(t)
	}
}

// checkAdvertised returns an error if the client advertises a capability and does not implement its
// method.
func (c *Conn) checkAdvertised(caps *acp.ClientCapabilities) error {
	if p, broken := c.table.Broken(promises, caps.Has); broken {
		return fmt.Errorf("client: the capabilities advertise %s, but %T does not implement %s (%s) or does not serve it: serve it or do not advertise the capability",
			p.Capability, c.client, p.Role, p.Method)
	}
	return nil
}

// ProtocolVersion returns the negotiated version of the protocol, or 0 before Initialize
// has succeeded.
func (c *Conn) ProtocolVersion() int { return endpoint.ValueOf(c.peer.Load()).version }

// PeerInfo returns the name and version from the agent's response to Initialize, or nil before
// that. The result is shared and must not be modified.
func (c *Conn) PeerInfo() *acp.Implementation { return endpoint.ValueOf(c.peer.Load()).info }

// AgentCapabilities returns the capabilities from the agent's response to Initialize, or
// nil before that. The result is shared and must not be modified.
func (c *Conn) AgentCapabilities() *acp.AgentCapabilities {
	return endpoint.ValueOf(c.peer.Load()).caps
}

// AuthMethods returns the methods to sign in from the agent's response to Initialize. The
// result is shared and must not be modified.
func (c *Conn) AuthMethods() []acp.AuthMethod { return endpoint.ValueOf(c.peer.Load()).auth }

// Capabilities returns the capabilities that follow from the optional interfaces which c
// serves (see [acp.Selective]). [Conn.Initialize] sends them if the request has none. To
// advertise others, set their members in the result.
//
// If c is or wraps a connection to a client, Capabilities returns what that client advertised,
// or nil before it is known.
func Capabilities(c acp.Client) *acp.ClientCapabilities {
	if r, ok := endpoint.Innermost(c).(remoteClient); ok {
		return r.ClientCapabilities()
	}
	conn := &Conn{client: c}
	conn.table.Unstable = true // an unstable interface without the option is an error of Start
	if !endpoint.IsNil(c) {
		conn.addRows(&conn.table)
	}
	return conn.capabilities()
}

func (c *Conn) capabilities() *acp.ClientCapabilities {
	caps := &acp.ClientCapabilities{}
	advertise(caps, &c.table)
	return caps
}
