package client

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/params"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard returns an error if a message must not be sent to the agent.
func (c *Conn) guard(m *wire.Method, req any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("client", m.Name)
	}
	if m.Name == acp.MethodInitialize {
		return nil
	}
	if c.opts.IgnoreCapabilities {
		return checkPrompt(m, req)
	}
	p := c.peer.Load()
	if p == nil {
		if c.engine.Err() != nil || !c.engine.Started() {
			return nil // the engine returns a more precise error
		}
		return fmt.Errorf("client: %s: the connection is not initialized: call Initialize first", m.Name)
	}
	if path := params.Rules.Missing(m, req, p.caps.Has); path != "" {
		return &acp.CapabilityError{Method: m.Name, Capability: path}
	}
	return checkPrompt(m, req)
}

// checkPrompt returns an error for a system prompt that no agent can apply.
func checkPrompt(m *wire.Method, req any) error {
	if p := params.Rules.Read(req).System; p != nil && p.Fault != nil {
		return invalid(m.Name+" params", p.Fault)
	}
	return nil
}
