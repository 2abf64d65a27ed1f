package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

// event returns the event of an update of version 1, or nil for a nil update.
func event(u acp.SessionUpdate) Event {
	switch u := u.(type) {
	case *acp.ToolCall, *acp.ToolCallUpdate:
		c, _ := ToolCallOf(u)
		return c
	case *acp.Plan:
		return PlanChanged{Plan{Entries: entries(u.Entries), Meta: Meta(u.Meta)}}
	case *acp.PlanUpdate:
		return plan(u)
	case *acp.PlanRemoved:
		return PlanRemoved{string(u.PlanID)}
	case *acp.AvailableCommandsUpdate:
		return CommandsChanged{commands(u.AvailableCommands)}
	case *acp.CurrentModeUpdate:
		return modeChanged{string(u.CurrentModeID), Meta(u.Meta)}
	case *acp.ConfigOptionUpdate:
		return OptionsChanged{optionsOf(u.ConfigOptions)}
	case *acp.SessionInfoUpdate:
		return InfoChanged{Title: patch(u.Title), UpdatedAt: patch(u.UpdatedAt), Meta: Meta(u.Meta)}
	case *acp.UsageUpdate:
		return usage(u)
	case *acp.Notice:
		return Noticed{Notice{Severity: string(u.Severity), Title: u.Title, Description: u.Description, Meta: Meta(u.Meta)}}
	case *acp.CompactionUpdate:
		c := CompactionChanged{ID: string(u.CompactionID), Status: nonEmpty(string(u.Status)), Error: patch(u.Error), Meta: Meta(u.Meta)}
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
	}
	return nil
}

// ToolCallOf returns what an update changes in a tool call, and reports whether the update is
// about one.
func ToolCallOf(u acp.SessionUpdate) (c ToolCallChanged, ok bool) {
	switch u := u.(type) {
	case *acp.ToolCall:
		c = toolCallChanged(&acp.ToolCallUpdate{
			ToolCallID: u.ToolCallID, Title: u.Title, Name: u.Name, Kind: u.Kind, Status: u.Status, Content: u.Content,
			Locations: u.Locations, RawInput: u.RawInput, RawOutput: u.RawOutput, Meta: u.Meta,
		})
		c.Begins = true
		return c, true
	case *acp.ToolCallUpdate:
		return toolCallChanged(u), true
	}
	return ToolCallChanged{}, false
}

func toolCallChanged(u *acp.ToolCallUpdate) ToolCallChanged {
	return ToolCallChanged{
		ID: string(u.ToolCallID), Title: nonEmpty(u.Title), Name: nonEmpty(u.Name), Kind: nonEmpty(string(u.Kind)), Status: nonEmpty(string(u.Status)),
		Content: toolContents(u.Content), Locations: locations(u.Locations),
		RawInput: present(u.RawInput), RawOutput: present(u.RawOutput), Meta: Meta(u.Meta),
	}
}

// nonEmpty returns nil for an empty text, which keeps the earlier value.
func nonEmpty(s string) *string {
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

func contentBlocks(list []acp.ContentBlock) []Block {
	var all []Block
	for _, b := range list {
		all = append(all, block(b))
	}
	return all
}

func block(b acp.ContentBlock) Block {
	switch b := b.(type) {
	case *acp.TextContent:
		return Block{Type: BlockText, Text: b.Text, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta)}
	case *acp.ImageContent:
		return Block{Type: BlockImage, Data: b.Data, MIMEType: b.MIMEType, URI: b.URI, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta)}
	case *acp.AudioContent:
		return Block{Type: BlockAudio, Data: b.Data, MIMEType: b.MIMEType, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta)}
	case *acp.ResourceLink:
		return Block{
			Type: BlockResourceLink, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description, MIMEType: b.MIMEType,
			Size: b.Size, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta),
		}
	case *acp.EmbeddedResource:
		return resource(b)
	case *acp.UnknownContentBlock:
		return Block{Type: b.Type, Raw: b.Raw}
	}
	return Block{}
}

func resource(b *acp.EmbeddedResource) Block {
	r := Block{Type: BlockResource, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta)}
	switch c := b.Resource.(type) {
	case *acp.TextResourceContents:
		r.Text, r.URI, r.MIMEType, r.ResourceMeta = c.Text, c.URI, c.MIMEType, Meta(c.Meta)
	case *acp.BlobResourceContents:
		r.Data, r.URI, r.MIMEType, r.ResourceMeta = c.Blob, c.URI, c.MIMEType, Meta(c.Meta)
	case *acp.UnknownEmbeddedResourceResource:
		r.Raw = c.Raw
	}
	return r
}

func annotations(a *acp.Annotations) *Annotations {
	if a == nil {
		return nil
	}
	n := &Annotations{LastModified: a.LastModified, Priority: a.Priority, Meta: Meta(a.Meta)}
	for _, role := range a.Audience {
		n.Audience = append(n.Audience, string(role))
	}
	return n
}

// toolContents returns nil for a nil list, which keeps the earlier list.
func toolContents(list []acp.ToolCallContent) *[]ToolContent {
	if list == nil {
		return nil
	}
	all := []ToolContent{}
	for _, c := range list {
		all = append(all, toolContent(c))
	}
	return &all
}

func toolContent(c acp.ToolCallContent) ToolContent {
	switch c := c.(type) {
	case *acp.Content:
		b := block(c.Content)
		return ToolContent{Type: ToolContentBlock, Block: &b, Meta: Meta(c.Meta)}
	case *acp.Diff:
		change := FileChange{Operation: FileModify, Path: c.Path}
		if c.OldText == nil {
			change.Operation = FileAdd
		}
		return ToolContent{
			Type: ToolContentDiff, Meta: Meta(c.Meta),
			Diff: &Diff{Changes: []FileChange{change}, OldText: c.OldText, NewText: &c.NewText},
		}
	case *acp.Terminal:
		return ToolContent{Type: ToolContentTerminal, TerminalID: string(c.TerminalID), Meta: Meta(c.Meta)}
	case *acp.UnknownToolCallContent:
		return ToolContent{Type: c.Type, Raw: c.Raw}
	}
	return ToolContent{}
}

// locations returns nil for a nil list, which keeps the earlier list.
func locations(list []acp.ToolCallLocation) *[]Location {
	if list == nil {
		return nil
	}
	var all []Location
	for _, l := range list {
		all = append(all, Location{Path: l.Path, Line: l.Line, Meta: Meta(l.Meta)})
	}
	return &all
}

func optionsOf(list []acp.SessionConfigOption) []Option {
	var all []Option
	for _, o := range list {
		option := Option{ID: string(o.ID), Name: o.Name, Description: o.Description, Category: string(o.Category), Meta: Meta(o.Meta)}
		switch k := o.Kind.(type) {
		case *acp.SessionConfigSelect:
			option.Type, option.Value = OptionSelect, string(k.CurrentValue)
			option.Groups = groups(k.Options)
		case *acp.SessionConfigBoolean:
			option.Type, option.On = OptionBoolean, k.CurrentValue
		case *acp.UnknownSessionConfigKind:
			option.Type, option.Raw = k.Type, k.Raw
		}
		all = append(all, option)
	}
	return all
}

// rawData returns the data of an error as JSON.
func rawData(data any) json.RawMessage {
	if data == nil {
		return nil
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil
	}
	return raw
}

func groups(o acp.SessionConfigSelectOptions) []OptionGroup {
	var all []OptionGroup
	if len(o.Ungrouped) > 0 {
		all = append(all, OptionGroup{Values: values(o.Ungrouped)})
	}
	for _, g := range o.Grouped {
		all = append(all, OptionGroup{ID: string(g.Group), Name: g.Name, Values: values(g.Options), Meta: Meta(g.Meta)})
	}
	return all
}

func values(list []acp.SessionConfigSelectOption) []OptionValue {
	var all []OptionValue
	for _, v := range list {
		all = append(all, OptionValue{ID: string(v.Value), Name: v.Name, Description: v.Description, Meta: Meta(v.Meta)})
	}
	return all
}
