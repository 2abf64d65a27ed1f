package client

import (
	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// needs returns the capabilities that the agent must have advertised for the message: that of the
// method, and those that the params need.
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

// contentBit returns the capability that a block of a prompt needs, or "". Text and links to
// resources need none.
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
