package client

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard tells why a message must not be sent to the agent.
func (c *Conn) guard(m *wire.Method, params any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("client", m.Name)
	}
	if c.opts.IgnoreCapabilities || m.Name == acp.MethodInitialize {
		return nil
	}
	p := c.peer.Load()
	if p == nil {
		if c.engine.Get().Err() != nil || !c.engine.Started() {
			return nil // the engine has the better words for it
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

// needs lists the capabilities that the agent must advertise for the message:
// that of the method, and those of what the params hold.
func needs(m *wire.Method, params any) []string {
	var paths []string
	if m.Capability != "" {
		paths = append(paths, m.Capability)
	}
	switch p := params.(type) {
	case *acp.PromptRequest:
		for _, block := range p.Prompt {
			if path := contentBit(block); path != "" {
				paths = append(paths, path)
			}
		}
	case *acp.NewSessionRequest:
		paths = sessionBits(paths, p.AdditionalDirectories, p.MCPServers, p.SystemPrompt)
	case *acp.LoadSessionRequest:
		paths = sessionBits(paths, p.AdditionalDirectories, p.MCPServers, p.SystemPrompt)
	case *acp.ResumeSessionRequest:
		paths = sessionBits(paths, p.AdditionalDirectories, p.MCPServers, p.SystemPrompt)
	case *acp.ForkSessionRequest:
		paths = sessionBits(paths, p.AdditionalDirectories, p.MCPServers, p.SystemPrompt)
	}
	return paths
}

// contentBit is what the agent must advertise to be prompted with the block. Text and
// links to resources need nothing.
func contentBit(block acp.ContentBlock) string {
	switch block.(type) {
	case *acp.ImageContent:
		return "promptCapabilities.image"
	case *acp.AudioContent:
		return "promptCapabilities.audio"
	case *acp.EmbeddedResource:
		return "promptCapabilities.embeddedContext"
	}
	return ""
}

func sessionBits(paths []string, dirs []string, servers []acp.MCPServer, system *acp.SystemPrompt) []string {
	if len(dirs) > 0 {
		paths = append(paths, "sessionCapabilities.additionalDirectories")
	}
	for _, server := range servers {
		switch server.(type) {
		case *acp.MCPServerHTTP:
			paths = append(paths, "mcpCapabilities.http")
		case *acp.MCPServerSSE:
			paths = append(paths, "mcpCapabilities.sse")
		case *acp.MCPServerACP:
			paths = append(paths, "mcpCapabilities.acp")
		}
	}
	if system != nil {
		paths = append(paths, "sessionCapabilities.systemPrompt")
		if system.Mode == acp.SystemPromptModeOverride {
			paths = append(paths, "sessionCapabilities.systemPrompt.mode.override")
		}
	}
	return paths
}
