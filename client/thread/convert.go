// Copied to draft2/thread by go generate.

package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// This file converts the updates that are alike in both versions. The others are in fromv1.go for
// version 1, and in event.go of draft2/thread for version 2.

// alike returns the event of an update that is the same in both versions, or nil for another one.
func alike(u acp.SessionUpdate) Event {
	switch u := u.(type) {
	case *acp.PlanUpdate:
		return plan(u)
	case *acp.PlanRemoved:
		return PlanRemoved{ID: string(u.PlanID)}
	case *acp.ConfigOptionUpdate:
		return OptionsChanged{Options: optionsOf(u.ConfigOptions)}
	case *acp.SessionInfoUpdate:
		return InfoChanged{Title: patch(u.Title), UpdatedAt: patch(u.UpdatedAt), Meta: Meta(u.Meta)}
	case *acp.Notice:
		return Noticed{Notice: Notice{Severity: string(u.Severity), Title: u.Title, Description: u.Description, Meta: Meta(u.Meta)}}
	case *acp.CompactionSummaryChunk:
		return CompactionChanged{ID: string(u.CompactionID), Append: []Block{block(u.Content)}, Meta: Meta(u.Meta)}
	case *acp.SessionMessage:
		return sessionMessage(u)
	case *acp.UnknownSessionUpdate:
		return Unrecognized{Type: u.Type, Raw: u.Raw}
	}
	return nil
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
		return Block{Type: BlockImage, Data: b.Data, MIMEType: string(b.MIMEType), URI: b.URI, Annotations: annotations(b.Annotations), Meta: Meta(b.Meta)}
	case *acp.AudioContent:
		return Block{Type: BlockAudio, Data: b.Data, MIMEType: string(b.MIMEType), Annotations: annotations(b.Annotations), Meta: Meta(b.Meta)}
	case *acp.ResourceLink:
		return link(b)
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
		r.Text, r.URI, r.MIMEType, r.ResourceMeta = c.Text, c.URI, string(c.MIMEType), Meta(c.Meta)
	case *acp.BlobResourceContents:
		r.Data, r.URI, r.MIMEType, r.ResourceMeta = c.Blob, c.URI, string(c.MIMEType), Meta(c.Meta)
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

func toolContents(list []acp.ToolCallContent) []ToolContent {
	var all []ToolContent
	for _, c := range list {
		all = append(all, toolContent(c))
	}
	return all
}

func toolContent(c acp.ToolCallContent) ToolContent {
	switch c := c.(type) {
	case *acp.Content:
		b := block(c.Content)
		return ToolContent{Type: ToolContentBlock, Block: &b, Meta: Meta(c.Meta)}
	case *acp.Diff:
		return diff(c)
	case *acp.Terminal:
		return ToolContent{Type: ToolContentTerminal, TerminalID: string(c.TerminalID), Meta: Meta(c.Meta)}
	case *acp.UnknownToolCallContent:
		return ToolContent{Type: c.Type, Raw: c.Raw}
	}
	return ToolContent{}
}

func locations(list []acp.ToolCallLocation) []Location {
	var all []Location
	for _, l := range list {
		all = append(all, Location{Path: string(l.Path), Line: l.Line, Meta: Meta(l.Meta)})
	}
	return all
}

func optionsOf(list []acp.SessionConfigOption) []Option {
	var all []Option
	for _, o := range list {
		option := Option{ID: optionID(&o), Name: o.Name, Description: o.Description, Category: string(o.Category), Meta: Meta(o.Meta)}
		switch k := o.Kind.(type) {
		case *acp.SessionConfigSelect:
			option.Type, option.Value, option.Groups = OptionSelect, string(k.CurrentValue), groups(k.Options)
		case *acp.SessionConfigBoolean:
			option.Type, option.On = OptionBoolean, k.CurrentValue
		case *acp.UnknownSessionConfigKind:
			option.Type, option.Raw = k.Type, k.Raw
		}
		all = append(all, option)
	}
	return all
}

func groups(o acp.SessionConfigSelectOptions) []OptionGroup {
	var all []OptionGroup
	if len(o.Ungrouped) > 0 {
		all = append(all, OptionGroup{Values: values(o.Ungrouped)})
	}
	for _, g := range o.Grouped {
		all = append(all, OptionGroup{ID: groupID(&g), Name: g.Name, Values: values(g.Options), Meta: Meta(g.Meta)})
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

func plan(u *acp.PlanUpdate) Event {
	p := Plan{Meta: Meta(u.Meta)}
	switch c := u.Plan.(type) {
	case *acp.PlanItems:
		p.ID, p.Entries, p.Meta = string(c.PlanID), entries(c.Entries), fold.Meta(p.Meta, Meta(c.Meta))
	case *acp.PlanFile:
		p.ID, p.URI, p.Meta = string(c.PlanID), c.URI, fold.Meta(p.Meta, Meta(c.Meta))
	case *acp.PlanMarkdown:
		p.ID, p.Markdown, p.Meta = string(c.PlanID), c.Content, fold.Meta(p.Meta, Meta(c.Meta))
	case *acp.UnknownPlanUpdateContent:
		var named struct {
			PlanID string `json:"planId"`
		}
		_ = json.Unmarshal(c.Raw, &named) // without an id it is the only plan
		p.ID, p.Type, p.Raw = named.PlanID, c.Type, c.Raw
	}
	return PlanChanged{Plan: p}
}

func entries(list []acp.PlanEntry) []PlanEntry {
	var all []PlanEntry
	for _, e := range list {
		all = append(all, PlanEntry{Content: e.Content, Priority: string(e.Priority), Status: string(e.Status), Meta: Meta(e.Meta)})
	}
	return all
}

func sessionMessage(u *acp.SessionMessage) Event {
	c := MessageChanged{Role: RoleSession, ID: string(u.MessageID), Content: mapped(u.Content, contentBlocks), Meta: Meta(u.Meta)}
	if !u.SenderSessionID.IsZero() || !u.SenderMessageID.IsZero() {
		c.From = &Address{SessionID: string(u.SenderSessionID.Or("")), MessageID: string(u.SenderMessageID.Or(""))}
	}
	if !u.RecipientSessionID.IsZero() || !u.RecipientMessageID.IsZero() {
		c.To = &Address{SessionID: string(u.RecipientSessionID.Or("")), MessageID: string(u.RecipientMessageID.Or(""))}
	}
	return c
}

// subagentChanged returns the event of an update of a subagent, without its state.
func subagentChanged(u *acp.SubagentUpdate) SubagentChanged {
	return SubagentChanged{
		SessionID: string(u.SessionID), Title: patch(u.Title), Description: patch(u.Description), Cwd: patch(u.Cwd),
		AdditionalDirectories: mapped(u.AdditionalDirectories, texts),
		Cancellable:           mapped(u.Capabilities, func(c acp.SubagentSessionCapabilities) bool { return c.Cancel != nil }),
		Meta:                  Meta(u.Meta),
	}
}

func permissionOptions(list []acp.PermissionOption) []PermissionOption {
	var all []PermissionOption
	for _, o := range list {
		all = append(all, PermissionOption{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind), Meta: Meta(o.Meta)})
	}
	return all
}

func tokens(u *acp.Usage) *Tokens {
	if u == nil {
		return nil
	}
	return &Tokens{
		Total: u.TotalTokens, Input: u.InputTokens, Output: u.OutputTokens, Thought: u.ThoughtTokens,
		CachedRead: u.CachedReadTokens, CachedWrite: u.CachedWriteTokens, Meta: Meta(u.Meta),
	}
}

// patch returns nil for an absent value, and the empty text for null.
func patch[T ~string](o acp.Opt[T]) *string { return mapped(o, func(v T) string { return string(v) }) }

// mapped returns nil for an absent value, and the zero value for null.
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

func texts[T ~string](list []T) []string {
	var all []string
	for _, s := range list {
		all = append(all, string(s))
	}
	return all
}
