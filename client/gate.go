package client

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk"
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
	for _, path := range needs(m, params) {
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
	case *acp.LoadSessionRequest:
		return p.SystemPrompt
	case *acp.ResumeSessionRequest:
		return p.SystemPrompt
	case *acp.ForkSessionRequest:
		return p.SystemPrompt
	}
	return nil
}

// needs returns the capabilities that the agent must have advertised for the message: that of the
// method, and those that the params need.
func needs(m *wire.Method, params any) []string {
	n := talk.Needs{Session: "sessionCapabilities.", Prompt: "promptCapabilities.", Server: "mcpCapabilities."}
	n.Of(m)
	switch p := params.(type) {
	case *acp.PromptRequest:
		for _, block := range p.Prompt { // text and links to resources need none
			switch block.(type) {
			case *acp.ImageContent:
				n.Block("image")
			case *acp.AudioContent:
				n.Block("audio")
			case *acp.EmbeddedResource:
				n.Block("embeddedContext")
			}
		}
	case *acp.NewSessionRequest:
		ofSession(&n, p.AdditionalDirectories, p.MCPServers)
	case *acp.LoadSessionRequest:
		ofSession(&n, p.AdditionalDirectories, p.MCPServers)
	case *acp.ResumeSessionRequest:
		ofSession(&n, p.AdditionalDirectories, p.MCPServers)
	case *acp.ForkSessionRequest:
		ofSession(&n, p.AdditionalDirectories, p.MCPServers)
	}
	if p := systemPromptOf(params); p != nil {
		n.SystemPrompt(string(p.Mode))
	}
	return n.Paths
}

func ofSession(n *talk.Needs, dirs []string, servers []acp.MCPServer) {
	n.Folders(len(dirs))
	for _, server := range servers {
		switch server.(type) {
		case *acp.MCPServerHTTP:
			n.MCP("http")
		case *acp.MCPServerSSE:
			n.MCP("sse")
		case *acp.MCPServerACP:
			n.MCP("acp")
		}
	}
}
