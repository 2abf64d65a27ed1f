package client

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// peer is what the agent said of itself.
type peer struct {
	version int
	info    *acp.Implementation
	caps    *acp.AgentCapabilities
	auth    []acp.AuthMethod
	own     *acp.ClientCapabilities // what it was told of us
}

// remoteClient is what tells a connection to a client (an *agent.Conn, or a struct
// that embeds one) from a client that lives here.
type remoteClient interface {
	ClientCapabilities() *acp.ClientCapabilities
	Call(ctx context.Context, method string, params, result any) error
	Done() <-chan struct{}
}

// VersionError says that the agent speaks another version of the protocol than
// this SDK. No session can be had from it; end the connection, or look for another
// version of the agent.
type VersionError struct {
	Requested, Answered int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("client: agent answered protocol version %d where %d was asked for; this SDK speaks %d",
		e.Answered, e.Requested, acp.ProtocolVersion)
}

// RequestError is the form in which the error leaves a proxy: -32022.
func (e *VersionError) RequestError() *rpcerr.RequestError {
	return rpcerr.UnsupportedProtocolVersion(e.Requested, acp.ProtocolVersion).WithCause(e)
}

// Initialize opens the conversation; every other call but this one fails before
// it. Give it a ctx with a deadline: an agent that was started by mistake, or that
// waits for a person, may never answer.
//
// A ProtocolVersion of 0 and nil ClientCapabilities are filled in, the latter by
// [Capabilities]; req itself is not changed, and nil stands for an empty one. Fails
// with a *[VersionError] when the agent speaks another version.
//
// Protocol: initialize.
func (c *Conn) Initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	var r acp.InitializeRequest
	if req != nil {
		r = *req
	}
	switch {
	case c.remote:
		// What the client asked the proxy for and the proxy cannot speak must not
		// be asked of the agent.
		r.ProtocolVersion = min(r.ProtocolVersion, acp.ProtocolVersion)
	case c.client != nil:
		if r.ProtocolVersion == 0 {
			r.ProtocolVersion = acp.ProtocolVersion
		}
		if r.ClientCapabilities == nil {
			r.ClientCapabilities = Capabilities(c.client)
		}
		if err := c.checkAdvertised(r.ClientCapabilities); err != nil {
			return nil, err
		}
	}
	res, err := endpoint.Call[acp.InitializeRequest, acp.InitializeResponse](ctx, &c.out, acp.MethodInitialize, &r, nil)
	if err != nil {
		return nil, err
	}
	if res.ProtocolVersion != acp.ProtocolVersion {
		return nil, &VersionError{Requested: int(r.ProtocolVersion), Answered: int(res.ProtocolVersion)}
	}
	now := &peer{
		version: int(res.ProtocolVersion), info: res.AgentInfo, caps: res.AgentCapabilities,
		auth: res.AuthMethods, own: r.ClientCapabilities,
	}
	if now.caps == nil {
		now.caps = &acp.AgentCapabilities{}
	}
	c.peer.Store(now)
	return res, nil
}

// checkAdvertised finds a capability that promises a method the client lacks.
func (c *Conn) checkAdvertised(caps *acp.ClientCapabilities) error {
	for _, b := range methodBits {
		if caps.Has(b.path) && !c.table.Has(b.method) {
			return fmt.Errorf("client: ClientCapabilities advertise %s, but %T does not implement acp.%s (%s)",
				b.path, c.client, b.role, b.method)
		}
	}
	return nil
}

// ProtocolVersion returns the version of the protocol that was agreed on, and 0
// before Initialize has returned.
func (c *Conn) ProtocolVersion() int {
	if p := c.peer.Load(); p != nil {
		return p.version
	}
	return 0
}

// PeerInfo returns the name and version that the agent gave in its answer to
// Initialize; nil before that, and for agents that give none. It is shared: do not
// change it.
func (c *Conn) PeerInfo() *acp.Implementation {
	if p := c.peer.Load(); p != nil {
		return p.info
	}
	return nil
}

// AgentCapabilities returns what the agent advertised in its answer to Initialize,
// and nil before that. It is shared: do not change it.
func (c *Conn) AgentCapabilities() *acp.AgentCapabilities {
	if p := c.peer.Load(); p != nil {
		return p.caps
	}
	return nil
}

// AuthMethods returns the ways to sign in that the agent offered in its answer to
// Initialize. The list is shared: do not change it.
func (c *Conn) AuthMethods() []acp.AuthMethod {
	if p := c.peer.Load(); p != nil {
		return p.auth
	}
	return nil
}
