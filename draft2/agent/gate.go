package agent

import (
	"fmt"

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
	if n, ok := params.(*acp.UpdateSessionNotification); ok {
		return c.suggests(m, n.Update, p.caps)
	}
	return nil
}

// suggests returns an error for suggestions that need more than what both ends have advertised.
func (c *Conn) suggests(m *wire.Method, u acp.SessionUpdate, caps *acp.ClientCapabilities) error {
	s, ok := u.(*acp.PromptSuggestionsUpdate)
	if !ok || c.remote {
		return nil
	}
	switch missing, wrong := params.Suggested(s, caps.Has, c.told.Load().Has); {
	case missing != "":
		return &acp.CapabilityError{Method: m.Name, Capability: missing}
	case wrong != "":
		return &acp.InvalidError{Where: m.Name + " params", Fields: []acp.FieldError{{Path: "update.suggestions.prompt", Message: wrong}}}
	}
	return nil
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
				return "", &acp.InvalidError{Where: m.Name + " params", Fields: []acp.FieldError{{Path: "url", Message: err.Error()}}}
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
		for _, command := range endpoint.ValueOf(u).AvailableCommands {
			if _, skill := command.(*acp.Skill); skill {
				return "session.commands.skill"
			}
		}
	}
	return ""
}
