package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

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
