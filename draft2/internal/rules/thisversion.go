package rules

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/draft2/acp"
)

// This file contains what differs between the versions. The file whose name ends in _shared_gen.go is
// a copy of version 1.

// The groups of capabilities that params need.
const (
	sessionGroup = "session."
	promptGroup  = "session.prompt."
	serverGroup  = "session.mcp."
)

// systemPromptOfVersion returns the system prompt in the params of methods that only this version
// has. Version 2 has none of these.
func systemPromptOfVersion(any) *acp.SystemPrompt { return nil }

// serverKind returns the capability for the kind of an MCP server, or "" if it needs none.
func serverKind(server acp.MCPServer) string {
	switch server := server.(type) {
	case *acp.MCPServerStdio:
		return "stdio"
	case *acp.MCPServerHTTP:
		return "http"
	case *acp.MCPServerACP:
		return "acp"
	case *acp.UnknownMCPServer:
		return ofProtocol(server.Type)
	}
	return ""
}

// unadvertisedOfVersion returns what params of methods need that only this version has. Version 2
// has none of these.
func unadvertisedOfVersion(*acp.AgentCapabilities, any) string { return "" }

// faultOfServers returns why servers must be refused in this version alone, or "".
func faultOfServers(servers []acp.MCPServer) string {
	names := make(map[string]bool, len(servers))
	for _, server := range servers {
		name := ""
		switch s := server.(type) {
		case *acp.MCPServerStdio:
			name = s.Name
		case *acp.MCPServerHTTP:
			name = s.Name
		case *acp.MCPServerACP:
			name = s.Name
		case *acp.UnknownMCPServer:
			var named struct{ Name string }
			_ = json.Unmarshal(s.Raw, &named) // it may have no name
			name = named.Name
		}
		if name != "" && names[name] {
			return "mcpServers: two servers have the same name"
		}
		names[name] = true
	}
	return ""
}

// valueOfVersion returns why a value must be refused in this version alone, or "". A client
// relies on a replay that it has requested.
func valueOfVersion(params any) string {
	if p, ok := params.(*acp.ResumeSessionRequest); ok {
		if from, ok := p.ReplayFrom.(*acp.UnknownReplayFrom); ok && ofProtocol(from.Type) != "" {
			return "replayFrom: the agent can replay from the start only"
		}
	}
	return ""
}
