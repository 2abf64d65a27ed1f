// Copied to client/v2 by go generate.

package client

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard returns an error if a message must not be sent to the agent.
func (c *Conn) guard(m *wire.Method, params any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("client", m.Name)
	}
	if c.opts.IgnoreCapabilities || m.Name == acp.MethodInitialize {
		return nil
	}
	p := c.peer.Load()
	if p == nil {
		if c.engine.Err() != nil || !c.engine.Started() {
			return nil // the engine returns a more precise error
		}
		return fmt.Errorf("client: %s: the connection is not initialized: call Initialize first", m.Name)
	}
	for _, path := range needs(m, params) {
		if !p.caps.Has(path) {
			return &acp.CapabilityError{Method: m.Name, Capability: path}
		}
	}
	return nil
}
