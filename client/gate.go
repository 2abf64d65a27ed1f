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

// needs returns the capabilities that the agent must have advertised for the message: that of the
// method, and those that the params need.
func needs(m *wire.Method, params any) []string {
	var paths []string
	if m.Capability != "" {
		paths = append(paths, m.Capability)
	}
	switch p := params.(type) {
	case *acp.PromptRequest:
		for _, block := range p.Prompt { // text and links to resources need none
			switch block.(type) {
			case *acp.ImageContent:
				paths = append(paths, promptGroup+"image")
			case *acp.AudioContent:
				paths = append(paths, promptGroup+"audio")
			case *acp.EmbeddedResource:
				paths = append(paths, promptGroup+"embeddedContext")
			}
		}
	case *acp.NewSessionRequest:
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt)
	case *acp.ResumeSessionRequest:
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt)
	case *acp.ForkSessionRequest:
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt)
	}
	return needsOfVersion(paths, params)
}

func needsOfSession(paths []string, dirs int, servers []acp.MCPServer, system *acp.SystemPrompt) []string {
	if dirs > 0 {
		paths = append(paths, sessionGroup+"additionalDirectories")
	}
	for _, server := range servers {
		if kind := serverKind(server); kind != "" {
			paths = append(paths, serverGroup+kind)
		}
	}
	if system != nil {
		paths = append(paths, sessionGroup+"systemPrompt")
		if system.Mode == acp.SystemPromptModeOverride {
			paths = append(paths, sessionGroup+"systemPrompt.mode.override")
		}
	}
	return paths
}
