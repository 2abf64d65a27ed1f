// Copied to agent/v2 by go generate.

package agent

import (
	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// Capabilities returns the capabilities that follow from the optional interfaces
// which a serves (see [acp.Selective]): that of [acp.SessionDeleter] for an agent that can
// delete sessions, and so on. A Conn sends them in its response to initialize if the agent's response has none.
//
// Capabilities that no interface stands for, such as the kinds of content in a prompt
// or the MCP transports, are left out. To advertise them, set their members in the result.
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
	caps := baseline()
	advertise(caps, &c.table)
	return caps
}
