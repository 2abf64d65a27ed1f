package agent

import (
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/params"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard returns an error if a message must not be sent to the client.
func (c *Conn) guard(m *wire.Method, params any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("agent", m.Name)
	}
	need, err := needs(m, params)
	if err != nil {
		return err
	}
	if c.known != nil {
		if err := c.checkUpdate(params); err != nil {
			return err
		}
		c.known.Note(listing(params))
	}
	p := c.peer.Load()
	switch {
	case c.opts.IgnoreCapabilities:
		return nil
	case p == nil && (c.engine.Err() != nil || !c.engine.Started()):
		return nil // the engine returns a more precise error
	case p == nil:
		return fmt.Errorf("agent: %s: the client has not initialized the connection yet: call it from a handler", m.Name)
	case need != "" && !p.caps.Has(need):
		return &acp.CapabilityError{Method: m.Name, Capability: need}
	}
	return c.keeps(m, params, p.caps)
}

// keeps returns an error for a message that belongs to something that the agent itself has not advertised.
func (c *Conn) keeps(m *wire.Method, p any, caps *acp.ClientCapabilities) error {
	if c.remote {
		return nil
	}
	if n, ok := p.(*acp.UpdateSessionNotification); ok {
		if s, ok := n.Update.(*acp.PromptSuggestionsUpdate); ok {
			return c.suggests(m, s, caps)
		}
	}
	if path, bit := ownBit(p); bit != "" && !c.told.Load().Has(bit) {
		return refusedParams(m, path, "the agent did not advertise "+bit)
	}
	return nil
}

// ownBit returns the capability that the agent must have advertised for a message, and the member of the params that
// needs it; or "".
func ownBit(params any) (path, bit string) {
	switch p := params.(type) {
	case *acp.AuthStatusUpdateNotification:
		return "state", "auth.status"
	case *acp.MessageMCPRequest:
		return "serverId", "session.mcp.acp"
	case *acp.UpdateSessionNotification:
		if u, ok := p.Update.(*acp.AvailableCommandsUpdate); ok && listsSkills(u) {
			return "update.availableCommands", "session.prompt.skill"
		}
	}
	return "", ""
}

// suggests returns an error for suggestions that need more than what both ends have advertised.
func (c *Conn) suggests(m *wire.Method, s *acp.PromptSuggestionsUpdate, caps *acp.ClientCapabilities) error {
	switch missing, wrong := params.Suggested(s, caps.Has, c.told.Load().Has); {
	case missing != "":
		return &acp.CapabilityError{Method: m.Name, Capability: missing}
	case wrong != "":
		return refusedParams(m, "update.suggestions.prompt", wrong)
	}
	return nil
}

// refusedParams returns the error for params that must not be sent.
func refusedParams(m *wire.Method, path, why string) error {
	return &acp.InvalidError{Where: m.Name + " params", Fields: []acp.FieldError{{Path: path, Message: why}}}
}

// needs returns the capability that the client must have advertised for the message, or "". It
// returns an error if the URL of an elicitation is not that of a web page: a client passes it to the
// operating system.
func needs(m *wire.Method, params any) (path string, err error) {
	switch p := params.(type) {
	case *acp.UpdateSessionNotification:
		return updateBit(p.Update), nil
	case *acp.CompleteElicitationNotification:
		return "elicitation.url", nil
	case *acp.CreateElicitationRequest:
		switch mode := p.Mode.(type) {
		case *acp.ElicitationFormMode:
			return "elicitation.form", nil
		case *acp.ElicitationURLMode:
			if mode == nil {
				return "elicitation.url", nil
			}
			if err := endpoint.CheckWebURL(mode.URL); err != nil {
				return "", refusedParams(m, "url", err.Error())
			}
			return "elicitation.url", nil
		}
		return "", nil
	}
	return m.Capability, nil
}

// updateBit returns the capability that a kind of update needs, or "".
func updateBit(u acp.SessionUpdate) string {
	switch u := u.(type) {
	case *acp.PromptSuggestionsUpdate:
		return "session.promptSuggestions"
	case *acp.AvailableCommandsUpdate:
		if listsSkills(u) {
			return "session.commands.skill"
		}
	}
	return ""
}

func listsSkills(u *acp.AvailableCommandsUpdate) bool {
	return slices.ContainsFunc(endpoint.ValueOf(u).AvailableCommands, isSkill)
}
