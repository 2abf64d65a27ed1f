// Copied to draft2/client by go generate.

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
	if m.Name == acp.MethodInitialize {
		return nil
	}
	if c.opts.IgnoreCapabilities {
		return checkPrompt(m, params)
	}
	p := c.peer.Load()
	if p == nil {
		if c.engine.Err() != nil || !c.engine.Started() {
			return nil // the engine returns a more precise error
		}
		return fmt.Errorf("client: %s: the connection is not initialized: call Initialize first", m.Name)
	}
	for _, path := range append(needs(m, params), needsOfPrompt(systemPromptOf(params))...) {
		if !p.caps.Has(path) {
			return &acp.CapabilityError{Method: m.Name, Capability: path}
		}
	}
	return checkPrompt(m, params)
}

// checkPrompt returns an error for a system prompt that no agent can apply.
func checkPrompt(m *wire.Method, params any) error {
	p := systemPromptOf(params)
	if p == nil {
		return nil
	}
	if fault := endpoint.PromptFault(p.Content, promptText); fault != nil {
		return invalid(m.Name+" params", fault)
	}
	return nil
}

func promptText(block acp.ContentBlock) (string, bool) {
	text, ok := block.(*acp.TextContent)
	if !ok || text == nil {
		return "", false
	}
	return text.Text, true
}

// systemPromptOf returns the system prompt in the params of a request that opens a session, or
// nil.
func systemPromptOf(params any) *acp.SystemPrompt {
	switch p := params.(type) {
	case *acp.NewSessionRequest:
		return p.SystemPrompt
	case *acp.ResumeSessionRequest:
		return p.SystemPrompt
	case *acp.ForkSessionRequest:
		return p.SystemPrompt
	}
	return systemPromptOfVersion(params)
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
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers)
	case *acp.ResumeSessionRequest:
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers)
	case *acp.ForkSessionRequest:
		return needsOfSession(paths, len(p.AdditionalDirectories), p.MCPServers)
	}
	return needsOfVersion(paths, params)
}

func needsOfSession(paths []string, dirs int, servers []acp.MCPServer) []string {
	if dirs > 0 {
		paths = append(paths, sessionGroup+"additionalDirectories")
	}
	for _, server := range servers {
		if kind := serverKind(server); kind != "" {
			paths = append(paths, serverGroup+kind)
		}
	}
	return paths
}

// needsOfPrompt returns the capabilities that a system prompt needs.
func needsOfPrompt(p *acp.SystemPrompt) []string {
	const path = sessionGroup + "systemPrompt"
	switch {
	case p == nil:
		return nil
	case p.Mode == acp.SystemPromptModeAppend, p.Mode == "": // an empty mode is invalid
		return []string{path}
	}
	return []string{path, path + ".mode." + string(p.Mode)} // there is none for an unknown mode
}
