package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/params"
	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/rpcerr"
)

// refuse changes the rows of t so that they refuse what the agent did not advertise. What an agent
// behind a connection cannot do, it refuses itself; see [rules.Version.Agent].
func (c *Conn) refuse(t *endpoint.Table) error {
	if applies, override := c.promptModes(); override && !applies {
		return fmt.Errorf("agent: AppliesSystemPrompt of %T returned true for override and false for append: an agent that applies system prompts must apply append", c.agent)
	}
	rules.Refuse(t, "", func(capability string) bool { return c.remote || c.told.Load().Has(capability) }, func(p any) *rpcerr.RequestError {
		return params.Rules.Agent(c.told.Load().Has, p, c.remote)
	})
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
