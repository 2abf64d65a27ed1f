package agent

import "github.com/acpkit/go-sdk/acp"

// Capabilities returns the capabilities that follow from the interfaces which a
// implements: that of [acp.SessionDeleter] for an agent that can delete sessions, and so
// on. A Conn sends them in its response to initialize if the agent's response has none.
//
// Capabilities that no interface stands for, such as the kinds of content in a prompt
// or the MCP transports, are left out. To advertise them, set their members in the result.
//
// If a is a connection to an agent, Capabilities returns what that agent advertised,
// or nil before it is known.
func Capabilities(a acp.Agent) *acp.AgentCapabilities {
	if r, ok := a.(remoteAgent); ok {
		return r.AgentCapabilities()
	}
	caps := baseline()
	advertise(caps, a)
	return caps
}
