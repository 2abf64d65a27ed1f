package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk/serving"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// sessionGroup is the group of the capabilities of sessions.
const sessionGroup = "sessionCapabilities."

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
				return serving.RefusePrompt(told.Has, sessionGroup, string(p.Mode), func() *wire.FieldErrors {
					return endpoint.PromptFault(p.Content, promptText)
				})
			}
			if p, ok := params.(*acp.ListSessionsRequest); ok {
				return serving.RefuseFilter(told.Has, sessionGroup, string(p.Archived))
			}
			return nil
		}
	}
	return nil
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
	bit := endpoint.Present(&endpoint.Present(&caps.SessionCapabilities).SystemPrompt)
	if overrides {
		endpoint.Present(&endpoint.Present(&bit.Mode).Override)
	}
}

func promptText(block acp.ContentBlock) (string, bool) {
	text, ok := block.(*acp.TextContent)
	return endpoint.ValueOf(text).Text, ok && text != nil
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
