// Copied to draft2/internal/rules by go generate.

// Package rules has the rules of the protocol about the params of requests that do not follow from the
// schema, and that oblige a receiver to refuse.
package rules

import (
	"cmp"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Agent returns the error for params that the protocol obliges an agent to refuse, or nil. told is what
// the agent has advertised. A relay leaves it to the agent behind it to refuse the kinds of content and
// of MCP servers that it did not advertise. It does not leave system prompts to it: a client that
// ignores capabilities would pass them on to an agent that drops them.
func Agent(told *acp.AgentCapabilities, params any, relay bool) *rpcerr.RequestError {
	if p := systemPromptOf(params); p != nil {
		if e := systemPrompt(told, p); e != nil {
			return e
		}
	}
	detail := value(told, params)
	if !relay {
		detail = cmp.Or(detail, unadvertised(told, params))
	}
	if detail == "" {
		return nil
	}
	return rpcerr.InvalidParams(nil).WithDetail(detail)
}

// unadvertised returns what in params needs a capability that the agent did not advertise, or "". An
// agent that left it out would work on something else than what the user has sent.
func unadvertised(told *acp.AgentCapabilities, params any) string {
	switch p := params.(type) {
	case *acp.PromptRequest:
		for _, block := range p.Prompt {
			if kind := blockKind(block); kind != "" && !told.Has(promptGroup+kind) {
				return "prompt: the agent did not advertise " + promptGroup + kind
			}
		}
	case *acp.NewSessionRequest:
		return unadvertisedInSession(told, len(p.AdditionalDirectories), p.MCPServers)
	case *acp.ResumeSessionRequest:
		return unadvertisedInSession(told, len(p.AdditionalDirectories), p.MCPServers)
	case *acp.ForkSessionRequest:
		return unadvertisedInSession(told, len(p.AdditionalDirectories), p.MCPServers)
	}
	return unadvertisedOfVersion(told, params)
}

func unadvertisedInSession(told *acp.AgentCapabilities, dirs int, servers []acp.MCPServer) string {
	if path := sessionGroup + "additionalDirectories"; dirs > 0 && !told.Has(path) {
		return "additionalDirectories: the agent did not advertise " + path
	}
	for _, server := range servers {
		if kind := serverKind(server); kind != "" && !told.Has(serverGroup+kind) {
			return "mcpServers: the agent did not advertise " + serverGroup + kind
		}
	}
	return faultOfServers(servers)
}

// blockKind returns the capability for a block of a prompt, or "" if it needs none. Kinds that are
// not known are left to the agent.
func blockKind(block acp.ContentBlock) string {
	switch block.(type) {
	case *acp.ImageContent:
		return "image"
	case *acp.AudioContent:
		return "audio"
	case *acp.EmbeddedResource:
		return "embeddedContext"
	}
	return ""
}

// ofProtocol returns "" for a type that agents and clients may define, and others unchanged.
func ofProtocol(kind string) string {
	if strings.HasPrefix(kind, "_") {
		return ""
	}
	return kind
}

// value returns why the protocol obliges an agent with these capabilities to refuse a
// value, or "".
func value(told *acp.AgentCapabilities, params any) string {
	switch p := params.(type) {
	case *acp.SetSessionTitleRequest:
		if strings.TrimSpace(p.Title) == "" {
			return "title: must contain text"
		}
	case *acp.ListSessionsRequest:
		switch p.Archived {
		case "", acp.SessionArchiveFilterExclude:
			return ""
		case acp.SessionArchiveFilterInclude, acp.SessionArchiveFilterOnly:
			if told.Has(sessionGroup + "archive") {
				return ""
			}
		}
		return "archived: this agent does not support the filter"
	}
	return valueOfVersion(params)
}

// systemPrompt returns the error for a system prompt that an agent with these capabilities cannot
// apply, or nil.
func systemPrompt(caps *acp.AgentCapabilities, p *acp.SystemPrompt) *rpcerr.RequestError {
	const path = sessionGroup + "systemPrompt"
	const override = path + ".mode.override"
	var fields *wire.FieldErrors
	sentence := ""
	switch {
	case !caps.Has(path):
		sentence = "this agent takes no system prompt: it did not advertise " + path
		fields = endpoint.PromptError("not supported by this agent")
	case p.Mode == acp.SystemPromptModeOverride && !caps.Has(override):
		sentence = "this agent cannot replace its system prompt: it did not advertise " + override
		fields = endpoint.PromptError("not supported by this agent", "mode")
	case p.Mode != acp.SystemPromptModeAppend && p.Mode != acp.SystemPromptModeOverride:
		sentence = "the mode of a system prompt must be append or override"
		fields = endpoint.PromptError("unknown mode", "mode")
	default:
		fields = endpoint.PromptFault(p.Content, promptText)
		sentence = "the content of a system prompt must be text blocks that are not all blank"
	}
	if fields == nil {
		return nil
	}
	return rpcerr.InvalidParams(fields).WithDetail(sentence)
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
