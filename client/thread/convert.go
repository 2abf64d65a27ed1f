package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// This file converts the updates that are alike in both versions of the protocol; the others are in
// fromv1.go. For version 2, draft2/thread does.

// alike returns the event of an update that is the same in both versions, or nil for another one.
func alike(u acp.SessionUpdate) Event {
	switch u := u.(type) {
	case *acp.PlanUpdate:
		return plan(u)
	case *acp.PlanRemoved:
		return PlanRemoved{ID: string(u.PlanID)}
	case *acp.PromptSuggestionsUpdate:
		return SuggestionsChanged{fold.Each(u.Suggestions, func(s acp.PromptSuggestion) Suggestion {
			return Suggestion{Prompt: contentBlocks(s.Prompt), Meta: Meta(s.Meta)}
		})}
	case *acp.ConfigOptionUpdate:
		return OptionsChanged{Options: optionsOf(u.ConfigOptions)}
	case *acp.SessionInfoUpdate:
		return InfoChanged{Title: fold.TextPatch(u.Title), UpdatedAt: fold.TextPatch(u.UpdatedAt), Meta: Meta(u.Meta)}
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

func contentBlocks(list []acp.ContentBlock) []Block { return fold.Each(list, block) }

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
	return &Annotations{Audience: fold.Texts(a.Audience), LastModified: a.LastModified, Priority: a.Priority, Meta: Meta(a.Meta)}
}

func toolContents(list []acp.ToolCallContent) []ToolContent { return fold.Each(list, toolContent) }

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
	return fold.Each(list, func(l acp.ToolCallLocation) Location {
		return Location{Path: string(l.Path), Line: l.Line, Meta: Meta(l.Meta)}
	})
}

func optionsOf(list []acp.SessionConfigOption) []Option {
	var all []Option
	for _, o := range list {
		option := Option{ID: string(o.ID), Name: o.Name, Description: o.Description, Category: string(o.Category), Meta: Meta(o.Meta)}
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
		all = append(all, OptionGroup{ID: string(g.Group), Name: g.Name, Values: values(g.Options), Meta: Meta(g.Meta)})
	}
	return all
}

func values(list []acp.SessionConfigSelectOption) []OptionValue {
	return fold.Each(list, func(v acp.SessionConfigSelectOption) OptionValue {
		return OptionValue{ID: string(v.Value), Name: v.Name, Description: v.Description, Meta: Meta(v.Meta)}
	})
}

func plan(u *acp.PlanUpdate) Event {
	p := Plan{Meta: Meta(u.Meta)}
	switch c := u.Plan.(type) {
	case *acp.PlanItems:
		p.ID, p.Entries, p.Meta = string(c.PlanID), entries(c.Entries), fold.Meta(p.Meta, Meta(c.Meta))
	case *acp.PlanMarkdown:
		p.ID, p.Markdown, p.Path, p.Meta = string(c.PlanID), c.Content, string(c.Path), fold.Meta(p.Meta, Meta(c.Meta))
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
	return fold.Each(list, func(e acp.PlanEntry) PlanEntry {
		return PlanEntry{Content: e.Content, Priority: string(e.Priority), Status: string(e.Status), Meta: Meta(e.Meta)}
	})
}

func sessionMessage(u *acp.SessionMessage) Event {
	c := MessageChanged{Role: RoleSession, ID: string(u.MessageID), Content: fold.Patch(u.Content, contentBlocks), Meta: Meta(u.Meta)}
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
		SessionID: string(u.SessionID), Title: fold.TextPatch(u.Title), Description: fold.TextPatch(u.Description), Cwd: fold.TextPatch(u.Cwd),
		AdditionalDirectories: fold.Patch(u.AdditionalDirectories, fold.Texts),
		Cancellable:           fold.Patch(u.Capabilities, func(c acp.SubagentSessionCapabilities) bool { return c.Cancel != nil }),
		Meta:                  Meta(u.Meta),
	}
}

func permissionOptions(list []acp.PermissionOption) []PermissionOption {
	return fold.Each(list, func(o acp.PermissionOption) PermissionOption {
		return PermissionOption{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind), Meta: Meta(o.Meta)}
	})
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
