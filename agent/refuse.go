// Copied to draft2/agent by go generate.

package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The protocol obliges an agent to refuse what it did not advertise. Its author may not know that,
// so the connection refuses it.

// refuse changes the rows of t so that they refuse what the agent did not advertise. What an agent
// behind a connection cannot do, it refuses itself, except for system prompts: a client that
// ignores capabilities would pass them on to an agent that drops them.
func (c *Conn) refuse(t *endpoint.Table) error {
	if applies, override := c.promptModes(); override && !applies {
		return fmt.Errorf("agent: AppliesSystemPrompt of %T returned true for override and false for append: an agent that applies system prompts must apply append", c.agent)
	}
	for _, e := range t.Entries {
		e.Refuse = func(params any) *rpcerr.RequestError {
			told := c.told.Load()
			if e.Capability != "" && !c.remote && !told.Has(e.Capability) {
				return rpcerr.MethodNotFound(e.Name)
			}
			if p := systemPromptOf(params); p != nil {
				return refusal(told, p)
			}
			return refusedByValue(told, params)
		}
	}
	return nil
}

// refusedByValue returns the error for a value that the protocol obliges an agent with these
// capabilities to refuse, or nil.
func refusedByValue(told *acp.AgentCapabilities, params any) *rpcerr.RequestError {
	p, ok := params.(*acp.ListSessionsRequest)
	if !ok {
		return refusedByVersion(params)
	}
	switch p.Archived {
	case "", acp.SessionArchiveFilterExclude:
		return nil
	case acp.SessionArchiveFilterInclude, acp.SessionArchiveFilterOnly:
		if told.Has(archivePath) {
			return nil
		}
	}
	return rpcerr.InvalidParams(nil).WithDetail("archived: this agent does not support the filter")
}

// promptModes returns which modes of a system prompt the agent applies.
func (c *Conn) promptModes() (appends, overrides bool) {
	a, ok := c.agent.(acp.SystemPromptApplier)
	if !ok || c.remote {
		return false, false
	}
	return a.AppliesSystemPrompt(acp.SystemPromptModeAppend), a.AppliesSystemPrompt(acp.SystemPromptModeOverride)
}

// advertisePrompts adds the capability to apply system prompts.
func (c *Conn) advertisePrompts(caps *acp.AgentCapabilities) {
	appends, overrides := c.promptModes()
	if !appends {
		return
	}
	bit := endpoint.Present(promptBit(caps))
	if overrides {
		endpoint.Present(&endpoint.Present(&bit.Mode).Override)
	}
}

// refusal returns the error for a system prompt that an agent with these capabilities cannot
// apply, or nil.
func refusal(caps *acp.AgentCapabilities, p *acp.SystemPrompt) *rpcerr.RequestError {
	const override = systemPromptPath + ".mode.override"
	var fields *wire.FieldErrors
	sentence := ""
	switch {
	case !caps.Has(systemPromptPath):
		sentence = "this agent takes no system prompt: it did not advertise " + systemPromptPath
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
