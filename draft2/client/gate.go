package client

import (
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard returns an error if a message must not be sent to the agent.
func (c *Conn) guard(m *wire.Method, params any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("client", m.Name)
	}
	p := c.peer.Load()
	switch {
	case m.Name == acp.MethodInitialize:
		return nil
	case c.opts.IgnoreCapabilities:
	case p == nil && (c.engine.Err() != nil || !c.engine.Started()):
		return nil // the engine returns a more precise error
	case p == nil:
		return fmt.Errorf("client: %s: the connection is not initialized: call Initialize first", m.Name)
	default:
		for _, path := range needs(m, params) {
			if !p.caps.Has(path) {
				return &acp.CapabilityError{Method: m.Name, Capability: path}
			}
		}
	}
	_, _, prompt := opens(params)
	if prompt == nil {
		return nil
	}
	fault := endpoint.PromptFault(prompt.Content, func(block acp.ContentBlock) (string, bool) {
		text, ok := block.(*acp.TextContent)
		return endpoint.ValueOf(text).Text, ok && text != nil
	})
	if fault != nil { // no agent can apply the system prompt
		return invalid(m.Name+" params", fault)
	}
	return nil
}

// opens returns what the params of a request that opens a session have.
func opens(params any) (dirs int, servers []acp.MCPServer, prompt *acp.SystemPrompt) {
	switch p := params.(type) {
	case *acp.NewSessionRequest:
		return len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt
	case *acp.ResumeSessionRequest:
		return len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt
	case *acp.ForkSessionRequest:
		return len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt
	}
	return 0, nil, nil
}

// needs returns the capabilities that the agent must have advertised for the message: that of the
// method, and those that the params need.
func needs(m *wire.Method, params any) []string {
	n := talk.Needs{Session: "session.", Prompt: "session.prompt.", Server: "session.mcp."}
	n.Of(m)
	if p, ok := params.(*acp.PromptRequest); ok {
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
	}
	dirs, servers, prompt := opens(params)
	n.Folders(dirs)
	for _, server := range servers {
		switch server.(type) {
		case *acp.MCPServerStdio:
			n.MCP("stdio")
		case *acp.MCPServerHTTP:
			n.MCP("http")
		case *acp.MCPServerACP:
			n.MCP("acp")
		}
	}
	if prompt != nil {
		n.SystemPrompt(string(prompt.Mode))
	}
	return n.Paths
}
