package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/params"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// refuse changes the rows of t so that they refuse what the agent did not advertise. What an agent
// behind a connection cannot do, it refuses itself; see [rules.Version.Agent].
func (c *Conn) refuse(t *endpoint.Table) error {
	if applies, override := c.promptModes(); override && !applies {
		return fmt.Errorf("agent: AppliesSystemPrompt of %T returned true for override and false for append: an agent that applies system prompts must apply append", c.agent)
	}
	for _, e := range t.Entries {
		e.Refuse = func(p any) *rpcerr.RequestError {
			told := c.told.Load()
			if e.Capability != "" && !c.remote && !told.Has(e.Capability) {
				return rpcerr.MethodNotFound(e.Name)
			}
			return params.Rules.Agent(told.Has, p, c.remote)
		}
	}
	return nil
}

// promptModes returns which modes of a system prompt the agent applies.
func (c *Conn) promptModes() (appends, overrides bool) {
	if a, ok := c.agent.(acp.SystemPromptApplier); ok && !c.remote {
		return a.AppliesSystemPrompt(acp.SystemPromptModeAppend), a.AppliesSystemPrompt(acp.SystemPromptModeOverride)
	}
	return false, false
}

// advertisePrompts adds the capability to apply system prompts.
func (c *Conn) advertisePrompts(caps *acp.AgentCapabilities) {
	appends, overrides := c.promptModes()
	if !appends {
		return
	}
	bit := endpoint.Present(&endpoint.Present(&caps.Session).SystemPrompt)
	if overrides {
		endpoint.Present(&endpoint.Present(&bit.Mode).Override)
	}
}
