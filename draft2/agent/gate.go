package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk/serving"
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

// These functions say which ids messages have, for Options.CheckIDs.

// named returns the session that must be open for a request, and the option in its params. Version 2
// has no modes.
func named(params any) (id, mode, option string) {
	switch p := params.(type) {
	case *acp.PromptRequest:
		return string(p.SessionID), "", ""
	case *acp.SetSessionConfigOptionRequest:
		return string(p.SessionID), "", string(p.ConfigID)
	}
	return "", "", ""
}

// told returns what a response says about a session.
func told(params, res any) serving.Told {
	switch p := params.(type) {
	case *acp.CloseSessionRequest:
		return serving.Told{Session: string(p.SessionID), Closed: true}
	case *acp.DeleteSessionRequest:
		return serving.Told{Session: string(p.SessionID), Closed: true}
	case *acp.ResumeSessionRequest:
		return opened(p.SessionID, endpoint.ValueOf(res.(*acp.ResumeSessionResponse)).ConfigOptions)
	case *acp.SetSessionConfigOptionRequest:
		return opened(p.SessionID, endpoint.ValueOf(res.(*acp.SetSessionConfigOptionResponse)).ConfigOptions)
	}
	switch res := res.(type) {
	case *acp.NewSessionResponse:
		return opened(res.SessionID, res.ConfigOptions)
	case *acp.ForkSessionResponse:
		return opened(res.SessionID, res.ConfigOptions)
	}
	return serving.Told{}
}

func opened(id acp.SessionID, options []acp.SessionConfigOption) serving.Told {
	return serving.Told{Session: string(id), Open: true, Options: serving.IDs(options, optionID)}
}

// listing returns the options that an update lists.
func listing(params any) serving.Told {
	n, _ := params.(*acp.UpdateSessionNotification)
	if u, ok := endpoint.ValueOf(n).Update.(*acp.ConfigOptionUpdate); ok {
		options := append([]acp.SessionConfigOption{}, u.ConfigOptions...) // not nil
		return serving.Told{Session: string(n.SessionID), Options: serving.IDs(options, optionID)}
	}
	return serving.Told{}
}

func optionID(o acp.SessionConfigOption) string { return string(o.ConfigID) }
