package client

import (
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/params"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard returns an error if a message must not be sent to the agent.
func (c *Conn) guard(m *wire.Method, req any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("client", m.Name)
	}
	p := c.peer.Load()
	switch {
	case m.Name == acp.MethodInitialize:
		return nil
	case c.opts.IgnoreCapabilities:
	case p == nil && (c.engine.Err() != nil || !c.engine.Started()):
		return nil // the engine returns a more precise error
	case p == nil:
		return fmt.Errorf("client: %s: the connection is not initialized: call Initialize first", m.Name)
	default:
		if path := params.Rules.Missing(m, req, p.caps.Has); path != "" {
			return &acp.CapabilityError{Method: m.Name, Capability: path}
		}
	}
	if prompt := params.Rules.Read(req).System; prompt != nil && prompt.Fault != nil { // no agent can apply it
		return invalid(m.Name+" params", prompt.Fault)
	}
	return nil
}
