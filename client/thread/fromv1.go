package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

// event returns the event of an update of version 1, or nil for a nil update.
func event(u acp.SessionUpdate) Event {
	switch u := u.(type) {
	case *acp.ToolCall:
		return ToolCallChanged{
			ID: string(u.ToolCallID), Begins: true, Title: said(u.Title), Name: said(u.Name), Kind: said(string(u.Kind)), Status: said(string(u.Status)),
			Content: toolContents(u.Content), Locations: locations(u.Locations),
			RawInput: present(u.RawInput), RawOutput: present(u.RawOutput), Meta: Meta(u.Meta),
		}
	case *acp.ToolCallUpdate:
		return ToolCallChanged{
			ID: string(u.ToolCallID), Title: said(u.Title), Name: said(u.Name), Kind: said(string(u.Kind)), Status: said(string(u.Status)),
			Content: toolContents(u.Content), Locations: locations(u.Locations),
			RawInput: present(u.RawInput), RawOutput: present(u.RawOutput), Meta: Meta(u.Meta),
		}
	case *acp.Plan:
		return PlanChanged{Plan{Entries: entries(u.Entries), Meta: Meta(u.Meta)}}
	case *acp.PlanUpdate:
		return plan(u)
	case *acp.PlanRemoved:
		return PlanRemoved{string(u.PlanID)}
	case *acp.AvailableCommandsUpdate:
		return CommandsChanged{commands(u.AvailableCommands)}
	case *acp.CurrentModeUpdate:
		return ModeChanged{string(u.CurrentModeID), Meta(u.Meta)}
	case *acp.ConfigOptionUpdate:
		return OptionsChanged{optionsOf(u.ConfigOptions)}
	case *acp.SessionInfoUpdate:
		return InfoChanged{Title: patch(u.Title), UpdatedAt: patch(u.UpdatedAt), Meta: Meta(u.Meta)}
	case *acp.UsageUpdate:
		return usage(u)
	case *acp.Notice:
		return Noticed{Notice{Severity: string(u.Severity), Title: u.Title, Description: u.Description, Meta: Meta(u.Meta)}}
	case *acp.CompactionUpdate:
		c := CompactionChanged{ID: string(u.CompactionID), Status: said(string(u.Status)), Error: patch(u.Error), Meta: Meta(u.Meta)}
		c.Summary = mapped(u.Summary, contentBlocks)
		return c
	case *acp.CompactionSummaryChunk:
		return CompactionChanged{ID: string(u.CompactionID), Append: []Block{block(u.Content)}, Meta: Meta(u.Meta)}
	case *acp.SubagentUpdate:
		return subagent(u)
	case *acp.SessionMessage:
		return sessionMessage(u)
	case *acp.SessionMessageChunk:
		return MessageChunk{Role: RoleSession, ID: string(u.MessageID), Content: block(u.Content), Meta: Meta(u.Meta)}
	case *acp.UnknownSessionUpdate:
		return Unrecognized{Type: u.Type, Raw: u.Raw}
	case *acp.AgentMessageChunk:
		return MessageChunk{RoleAgent, string(u.MessageID), block(u.Content), Meta(u.Meta)}
	case *acp.AgentThoughtChunk:
		return MessageChunk{RoleThought, string(u.MessageID), block(u.Content), Meta(u.Meta)}
	case *acp.UserMessageChunk:
		return MessageChunk{RoleUser, string(u.MessageID), block(u.Content), Meta(u.Meta)}
	}
	return nil
}

// said returns nil for an empty text, which keeps the earlier value.
func said(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// present returns nil for null too, which keeps the earlier value.
func present(raw json.RawMessage) *json.RawMessage {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	return &raw
}

// patch returns nil for an absent value and the zero value for null.
func patch[T any](o acp.Opt[T]) *T { return mapped(o, func(v T) T { return v }) }

func mapped[T, U any](o acp.Opt[T], f func(T) U) *U {
	if o.IsZero() {
		return nil
	}
	var u U
	if v, ok := o.Get(); ok {
		u = f(v)
	}
	return &u
}

func plan(u *acp.PlanUpdate) Event {
	p := Plan{Meta: Meta(u.Meta)}
	switch c := u.Plan.(type) {
	case *acp.PlanItems:
		p.ID, p.Entries, p.Meta = string(c.PlanID), entries(c.Entries), merge(p.Meta, Meta(c.Meta))
	case *acp.PlanFile:
		p.ID, p.URI, p.Meta = string(c.PlanID), c.URI, merge(p.Meta, Meta(c.Meta))
	case *acp.PlanMarkdown:
		p.ID, p.Markdown, p.Meta = string(c.PlanID), c.Content, merge(p.Meta, Meta(c.Meta))
	case *acp.UnknownPlanUpdateContent:
		var named struct {
			PlanID string `json:"planId"`
		}
		_ = json.Unmarshal(c.Raw, &named) // without an id it is the only plan
		p.ID, p.Type, p.Raw = named.PlanID, c.Type, c.Raw
	}
	return PlanChanged{p}
}

func entries(list []acp.PlanEntry) []PlanEntry {
	var all []PlanEntry
	for _, e := range list {
		all = append(all, PlanEntry{Content: e.Content, Priority: string(e.Priority), Status: string(e.Status), Meta: Meta(e.Meta)})
	}
	return all
}

func usage(u *acp.UsageUpdate) Event {
	c := UsageChanged{Used: u.Used, Size: u.Size, Meta: Meta(u.Meta)}
	if u.Cost != nil {
		cost := &Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency, Meta: Meta(u.Cost.Meta)}
		c.Cost = &cost
	}
	return c
}

func commands(list []acp.AvailableCommand) []Command {
	var all []Command
	for _, c := range list {
		command := Command{Name: c.Name, Description: c.Description, Meta: Meta(c.Meta)}
		switch in := c.Input.(type) {
		case *acp.UnstructuredCommandInput:
			command.TakesInput, command.Hint = true, in.Hint
			command.Meta = merge(command.Meta, Meta(in.Meta))
		case *acp.UnknownAvailableCommandInput:
			command.TakesInput, command.Raw = true, in.Raw
		}
		all = append(all, command)
	}
	return all
}

func subagent(u *acp.SubagentUpdate) Event {
	c := SubagentChanged{
		SessionID: string(u.SessionID), Title: patch(u.Title), Description: patch(u.Description), Cwd: patch(u.Cwd),
		AdditionalDirectories: patch(u.AdditionalDirectories), Meta: Meta(u.Meta),
	}
	c.Cancellable = mapped(u.Capabilities, func(c acp.SubagentSessionCapabilities) bool { return c.Cancel != nil })
	if u.State.IsZero() {
		return c
	}
	state, reason := "", ""
	var (
		failed *Failure
		tally  *Tokens
	)
	switch s := u.State.Or(nil).(type) {
	case *acp.RunningStateUpdate:
		state = StateRunning
	case *acp.RequiresActionStateUpdate:
		state = StateRequiresAction
	case *acp.IdleStateUpdate:
		state, reason, tally = StateIdle, string(s.StopReason), tokens(s.Usage)
		if s.Error != nil {
			failed = &Failure{Message: s.Error.Message, Code: int(s.Error.Code), Data: rawData(s.Error.Data)}
		}
	case *acp.OtherStateUpdate:
		state = s.Type
	}
	c.State, c.StopReason, c.Error, c.Usage = &state, &reason, &failed, &tally
	return c
}

func sessionMessage(u *acp.SessionMessage) Event {
	c := MessageChanged{Role: RoleSession, ID: string(u.MessageID), Meta: Meta(u.Meta)}
	c.Content = mapped(u.Content, contentBlocks)
	if !u.SenderSessionID.IsZero() || !u.SenderMessageID.IsZero() {
		c.From = &Address{string(u.SenderSessionID.Or("")), string(u.SenderMessageID.Or(""))}
	}
	if !u.RecipientSessionID.IsZero() || !u.RecipientMessageID.IsZero() {
		c.To = &Address{string(u.RecipientSessionID.Or("")), string(u.RecipientMessageID.Or(""))}
	}
	return c
}

func modesOf(m *acp.SessionModeState) *Modes {
	modes := &Modes{Current: string(m.CurrentModeID), Meta: Meta(m.Meta)}
	for _, mode := range m.AvailableModes {
		modes.Available = append(modes.Available, Mode{ID: string(mode.ID), Name: mode.Name, Description: mode.Description, Meta: Meta(mode.Meta)})
	}
	return modes
}
