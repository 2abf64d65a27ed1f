package client

import (
	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/wire"
)

// needs returns the capabilities that the agent must have advertised for the message:
// that of the method, and those that the params need.
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
	case *acp.ResumeSessionRequest:
		paths = sessionBits(paths, p.AdditionalDirectories, p.MCPServers, p.SystemPrompt)
	case *acp.ForkSessionRequest:
		paths = sessionBits(paths, p.AdditionalDirectories, p.MCPServers, p.SystemPrompt)
	}
	return paths
}

// contentBit returns the capability that a prompt with the block needs, or the empty
// string. Text and links to resources need none.
func contentBit(block acp.ContentBlock) string {
	switch block.(type) {
	case *acp.ImageContent:
		return "session.prompt.image"
	case *acp.AudioContent:
		return "session.prompt.audio"
	case *acp.EmbeddedResource:
		return "session.prompt.embeddedContext"
	}
	return ""
}

func sessionBits(paths []string, dirs []acp.AbsolutePath, servers []acp.MCPServer, system *acp.SystemPrompt) []string {
	if len(dirs) > 0 {
		paths = append(paths, "session.additionalDirectories")
	}
	for _, server := range servers {
		switch server.(type) {
		case *acp.MCPServerStdio:
			paths = append(paths, "session.mcp.stdio")
		case *acp.MCPServerHTTP:
			paths = append(paths, "session.mcp.http")
		case *acp.MCPServerACP:
			paths = append(paths, "session.mcp.acp")
		}
	}
	if system != nil {
		paths = append(paths, "session.systemPrompt")
		if system.Mode == acp.SystemPromptModeOverride {
			paths = append(paths, "session.systemPrompt.mode.override")
		}
	}
	return paths
}
