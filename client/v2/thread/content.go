package thread

import (
	"encoding/json"
	"math"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
)

func contentBlocks(list []acp.ContentBlock) []thread.Block {
	var all []thread.Block
	for _, b := range list {
		all = append(all, block(b))
	}
	return all
}

func block(b acp.ContentBlock) thread.Block {
	switch b := b.(type) {
	case *acp.TextContent:
		return thread.Block{Type: thread.BlockText, Text: b.Text, Annotations: annotations(b.Annotations), Meta: thread.Meta(b.Meta)}
	case *acp.ImageContent:
		return thread.Block{
			Type: thread.BlockImage, Data: b.Data, MIMEType: string(b.MIMEType), URI: b.URI,
			Annotations: annotations(b.Annotations), Meta: thread.Meta(b.Meta),
		}
	case *acp.AudioContent:
		return thread.Block{
			Type: thread.BlockAudio, Data: b.Data, MIMEType: string(b.MIMEType),
			Annotations: annotations(b.Annotations), Meta: thread.Meta(b.Meta),
		}
	case *acp.ResourceLink:
		return link(b)
	case *acp.EmbeddedResource:
		return resource(b)
	case *acp.UnknownContentBlock:
		return thread.Block{Type: b.Type, Raw: b.Raw}
	}
	return thread.Block{}
}

func link(b *acp.ResourceLink) thread.Block {
	l := thread.Block{
		Type: thread.BlockResourceLink, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description,
		MIMEType: string(b.MIMEType), Annotations: annotations(b.Annotations), Meta: thread.Meta(b.Meta),
	}
	if b.Size != nil {
		l.Size = new(int64(min(*b.Size, math.MaxInt64)))
	}
	for _, i := range b.Icons {
		l.Icons = append(l.Icons, thread.Icon{
			URI: i.Src, MIMEType: string(i.MIMEType), Sizes: i.Sizes, Theme: string(i.Theme), Meta: thread.Meta(i.Meta),
		})
	}
	return l
}

func resource(b *acp.EmbeddedResource) thread.Block {
	r := thread.Block{Type: thread.BlockResource, Annotations: annotations(b.Annotations), Meta: thread.Meta(b.Meta)}
	switch c := b.Resource.(type) {
	case *acp.TextResourceContents:
		r.Text, r.URI, r.MIMEType, r.ResourceMeta = c.Text, c.URI, string(c.MIMEType), thread.Meta(c.Meta)
	case *acp.BlobResourceContents:
		r.Data, r.URI, r.MIMEType, r.ResourceMeta = c.Blob, c.URI, string(c.MIMEType), thread.Meta(c.Meta)
	case *acp.UnknownEmbeddedResourceResource:
		r.Raw = c.Raw
	}
	return r
}

func annotations(a *acp.Annotations) *thread.Annotations {
	if a == nil {
		return nil
	}
	n := &thread.Annotations{LastModified: a.LastModified, Priority: a.Priority, Meta: thread.Meta(a.Meta)}
	for _, role := range a.Audience {
		n.Audience = append(n.Audience, string(role))
	}
	return n
}

func toolContents(list []acp.ToolCallContent) []thread.ToolContent {
	var all []thread.ToolContent
	for _, c := range list {
		all = append(all, toolContent(c))
	}
	return all
}

func toolContent(c acp.ToolCallContent) thread.ToolContent {
	switch c := c.(type) {
	case *acp.Content:
		b := block(c.Content)
		return thread.ToolContent{Type: thread.ToolContentBlock, Block: &b, Meta: thread.Meta(c.Meta)}
	case *acp.Diff:
		return diff(c)
	case *acp.Terminal:
		return thread.ToolContent{Type: thread.ToolContentTerminal, TerminalID: string(c.TerminalID), Meta: thread.Meta(c.Meta)}
	case *acp.UnknownToolCallContent:
		return thread.ToolContent{Type: c.Type, Raw: c.Raw}
	}
	return thread.ToolContent{}
}

func diff(c *acp.Diff) thread.ToolContent {
	d := &thread.Diff{}
	for _, change := range c.Changes {
		d.Changes = append(d.Changes, fileChange(&change))
	}
	content := thread.ToolContent{Type: thread.ToolContentDiff, Diff: d, Meta: thread.Meta(c.Meta)}
	if c.Patch != nil {
		d.Patch, d.PatchFormat = c.Patch.Text, string(c.Patch.Format)
		content.Meta = merge(content.Meta, c.Patch.Meta)
	}
	return content
}

func fileChange(c *acp.DiffChange) thread.FileChange {
	f := thread.FileChange{FileType: string(c.FileType), MIMEType: string(c.MIMEType), Meta: thread.Meta(c.Meta)}
	switch o := c.Operation.(type) {
	case *acp.DiffAdd:
		f.Operation, f.Path = thread.FileAdd, string(o.Path)
	case *acp.DiffDelete:
		f.Operation, f.Path = thread.FileDelete, string(o.Path)
	case *acp.DiffModify:
		f.Operation, f.Path = thread.FileModify, string(o.Path)
	case *acp.DiffMove:
		f.Operation, f.OldPath, f.Path = thread.FileMove, string(o.OldPath), string(o.Path)
	case *acp.DiffCopy:
		f.Operation, f.OldPath, f.Path = thread.FileCopy, string(o.OldPath), string(o.Path)
	case *acp.UnknownDiffOperation:
		f.Operation, f.Raw = o.Type, o.Raw
	}
	return f
}

func locations(list []acp.ToolCallLocation) []thread.Location {
	var all []thread.Location
	for _, l := range list {
		all = append(all, thread.Location{Path: string(l.Path), Line: l.Line, Meta: thread.Meta(l.Meta)})
	}
	return all
}

func optionsOf(list []acp.SessionConfigOption) []thread.Option {
	var all []thread.Option
	for _, o := range list {
		option := thread.Option{
			ID: string(o.ConfigID), Name: o.Name, Description: o.Description, Category: string(o.Category), Meta: thread.Meta(o.Meta),
		}
		switch k := o.Kind.(type) {
		case *acp.SessionConfigSelect:
			option.Type, option.Value, option.Groups = thread.OptionSelect, string(k.CurrentValue), groups(k.Options)
		case *acp.SessionConfigBoolean:
			option.Type, option.On = thread.OptionBoolean, k.CurrentValue
		case *acp.UnknownSessionConfigKind:
			option.Type, option.Raw = k.Type, k.Raw
		}
		all = append(all, option)
	}
	return all
}

func groups(o acp.SessionConfigSelectOptions) []thread.OptionGroup {
	var all []thread.OptionGroup
	if len(o.Ungrouped) > 0 {
		all = append(all, thread.OptionGroup{Values: values(o.Ungrouped)})
	}
	for _, g := range o.Grouped {
		all = append(all, thread.OptionGroup{ID: string(g.GroupID), Name: g.Name, Values: values(g.Options), Meta: thread.Meta(g.Meta)})
	}
	return all
}

func values(list []acp.SessionConfigSelectOption) []thread.OptionValue {
	var all []thread.OptionValue
	for _, v := range list {
		all = append(all, thread.OptionValue{ID: string(v.Value), Name: v.Name, Description: v.Description, Meta: thread.Meta(v.Meta)})
	}
	return all
}

func commandsOf(list []acp.AvailableCommand) []thread.Command {
	var all []thread.Command
	for _, c := range list {
		switch c := c.(type) {
		case *acp.Command:
			all = append(all, command(c))
		case *acp.UnknownAvailableCommand:
			var named struct{ Name, Description string }
			_ = json.Unmarshal(c.Raw, &named) // without a name it cannot be typed, but Raw is there
			all = append(all, thread.Command{Name: named.Name, Description: named.Description, Raw: c.Raw})
		}
	}
	return all
}

func command(c *acp.Command) thread.Command {
	command := thread.Command{Name: c.Name, Description: c.Description, Meta: thread.Meta(c.Meta)}
	switch in := c.Input.(type) {
	case *acp.TextCommandInput:
		command.TakesInput, command.Hint = true, in.Hint
		command.Meta = merge(command.Meta, in.Meta)
	case *acp.UnknownAvailableCommandInput:
		command.TakesInput, command.Raw = true, in.Raw
	}
	return command
}
