package rules

import "github.com/acpkit/go-sdk/acp"

// This file contains what differs between the versions.

// The groups of capabilities that params need.
const (
	sessionGroup = "sessionCapabilities."
	promptGroup  = "promptCapabilities."
	serverGroup  = "mcpCapabilities."
)

// systemPromptOfVersion returns the system prompt in the params of methods that only this version
// has.
func systemPromptOfVersion(params any) *acp.SystemPrompt {
	if p, ok := params.(*acp.LoadSessionRequest); ok {
		return p.SystemPrompt
	}
	return nil
}

// serverKind returns the capability for the kind of an MCP server, or "" if it needs none.
func serverKind(server acp.MCPServer) string {
	switch server := server.(type) {
	case *acp.MCPServerHTTP:
		return "http"
	case *acp.MCPServerSSE:
		return "sse"
	case *acp.MCPServerACP:
		return "acp"
	case *acp.UnknownMCPServer:
		return ofProtocol(server.Type)
	}
	return ""
}

// unadvertisedOfVersion returns what params of methods need that only this version has.
func unadvertisedOfVersion(told *acp.AgentCapabilities, params any) string {
	if p, ok := params.(*acp.LoadSessionRequest); ok {
		return unadvertisedInSession(told, len(p.AdditionalDirectories), p.MCPServers)
	}
	return ""
}

// faultOfServers returns why servers must be refused in this version alone, or "".
func faultOfServers([]acp.MCPServer) string { return "" }

// valueOfVersion returns why a value must be refused in this version alone, or "".
func valueOfVersion(any) string { return "" }
