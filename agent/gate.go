package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/params"
	"github.com/acpkit/go-sdk/internal/wire"
)

// guard returns an error if a message must not be sent to the client.
func (c *Conn) guard(m *wire.Method, params any) error {
	if m.Unstable && !c.opts.Unstable {
		return endpoint.NotEnabled("agent", m.Name)
	}
	if err := checkURL(params); err != nil {
		return err
	}
	if c.known != nil {
		if err := c.checkUpdate(params); err != nil {
			return err
		}
		c.known.Note(listing(params))
	}
	if c.opts.IgnoreCapabilities {
		return nil
	}
	p := c.peer.Load()
	if p == nil {
		if c.engine.Err() != nil || !c.engine.Started() {
			return nil // the engine returns a more precise error
		}
		return fmt.Errorf("agent: %s: the client has not initialized the connection yet: call it from a handler", m.Name)
	}
	if need := missing(p.caps, m, params); need != "" {
		return &acp.CapabilityError{Method: m.Name, Capability: need}
	}
	return c.keeps(m, params, p.caps)
}

// keeps returns an error for a message that belongs to something that the agent itself has not advertised.
func (c *Conn) keeps(m *wire.Method, p any, caps *acp.ClientCapabilities) error {
	if c.remote {
		return nil
	}
	if n, ok := p.(*acp.SessionNotification); ok {
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
	switch params.(type) {
	case *acp.AuthStatusUpdateNotification:
		return "state", "auth.status"
	case *acp.MessageMCPRequest:
		return "serverId", "mcpCapabilities.acp"
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

// missing returns the capability that the message needs and the client did not advertise, or "".
// Methods, modes of elicitation and kinds of updates need capabilities.
func missing(caps *acp.ClientCapabilities, m *wire.Method, params any) string {
	path := m.Capability
	switch p := params.(type) {
	case *acp.CreateElicitationRequest:
		path = modeBit(p.Mode)
	case *acp.CompleteElicitationNotification:
		path = "elicitation.url"
	case *acp.SessionNotification:
		path = updateBit(p.Update)
	}
	if path == "" || caps.Has(path) {
		return ""
	}
	return path
}

func modeBit(mode acp.ElicitationMode) string {
	switch mode.(type) {
	case *acp.ElicitationFormMode:
		return "elicitation.form"
	case *acp.ElicitationURLMode:
		return "elicitation.url"
	}
	return ""
}

func updateBit(u acp.SessionUpdate) string {
	switch u := u.(type) {
	case *acp.ConfigOptionUpdate:
		if listsSwitches(u) {
			return switchBit
		}
	case *acp.Notice:
		return "session.notices"
	case *acp.CompactionUpdate, *acp.CompactionSummaryChunk:
		return "session.compaction"
	case *acp.PromptSuggestionsUpdate:
		return "session.promptSuggestions"
	case *acp.CursorUpdate:
		return "session.cursors"
	case *acp.PlanUpdate, *acp.PlanRemoved:
		return "plan"
	case *acp.SubagentUpdate, *acp.SessionMessage, *acp.SessionMessageChunk:
		return "subagents"
	}
	return ""
}

// checkURL returns an error if the URL of an elicitation is not that of a web page. A client passes
// the URL to the operating system, which could run a program or open a file for other URLs.
func checkURL(params any) error {
	p, ok := params.(*acp.CreateElicitationRequest)
	if !ok {
		return nil
	}
	mode, ok := p.Mode.(*acp.ElicitationURLMode)
	if !ok || mode == nil {
		return nil
	}
	if err := endpoint.CheckWebURL(mode.URL); err != nil {
		return &acp.InvalidError{
			Where:  "elicitation/create params",
			Fields: []acp.FieldError{{Path: "url", Message: err.Error()}},
		}
	}
	return nil
}
