package thread

import (
	"math"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

func contentBlocks(list []acp.ContentBlock) []thread.Block { return fold.Each(list, block) }

func block(b acp.ContentBlock) thread.Block {
	switch b := b.(type) {
	case *acp.TextContent:
		return with(b.Annotations, b.Meta, thread.Block{Type: thread.BlockText, Text: b.Text})
	case *acp.ImageContent:
		return with(b.Annotations, b.Meta, thread.Block{Type: thread.BlockImage, Data: b.Data, MIMEType: string(b.MIMEType), URI: b.URI})
	case *acp.AudioContent:
		return with(b.Annotations, b.Meta, thread.Block{Type: thread.BlockAudio, Data: b.Data, MIMEType: string(b.MIMEType)})
	case *acp.ResourceLink:
		return with(b.Annotations, b.Meta, link(b))
	case *acp.EmbeddedResource:
		return with(b.Annotations, b.Meta, resource(b.Resource))
	case *acp.SkillReference:
		return thread.Block{Type: thread.BlockSkill, Name: b.Name, Meta: thread.Meta(b.Meta)}
	case *acp.UnknownContentBlock:
		return thread.Block{Type: b.Type, Raw: b.Raw}
	}
	return thread.Block{}
}

// with returns the block with what all kinds have.
func with(a *acp.Annotations, meta acp.Meta, b thread.Block) thread.Block {
	b.Meta = thread.Meta(meta)
	if a != nil {
		b.Annotations = &thread.Annotations{
			Audience: fold.Texts(a.Audience), LastModified: a.LastModified, Priority: a.Priority, Meta: thread.Meta(a.Meta),
		}
	}
	return b
}

func resource(r acp.EmbeddedResourceResource) thread.Block {
	b := thread.Block{Type: thread.BlockResource}
	switch r := r.(type) {
	case *acp.TextResourceContents:
		b.Text, b.URI, b.MIMEType, b.ResourceMeta = r.Text, r.URI, string(r.MIMEType), thread.Meta(r.Meta)
	case *acp.BlobResourceContents:
		b.Data, b.URI, b.MIMEType, b.ResourceMeta = r.Blob, r.URI, string(r.MIMEType), thread.Meta(r.Meta)
	case *acp.UnknownEmbeddedResourceResource:
		b.Raw = r.Raw
	}
	return b
}

func toolContents(list []acp.ToolCallContent) []thread.ToolContent {
	return fold.Each(list, toolContent)
}

func toolContent(c acp.ToolCallContent) thread.ToolContent {
	switch c := c.(type) {
	case *acp.Content:
		return thread.ToolContent{Type: thread.ToolContentBlock, Block: new(block(c.Content)), Meta: thread.Meta(c.Meta)}
	case *acp.Diff:
		return diff(c)
	case *acp.Terminal:
		return thread.ToolContent{Type: thread.ToolContentTerminal, TerminalID: string(c.TerminalID), Meta: thread.Meta(c.Meta)}
	case *acp.UnknownToolCallContent:
		return thread.ToolContent{Type: c.Type, Raw: c.Raw}
	}
	return thread.ToolContent{}
}

func locations(list []acp.ToolCallLocation) []thread.Location {
	return fold.Each(list, func(l acp.ToolCallLocation) thread.Location {
		return thread.Location{Path: string(l.Path), Line: l.Line, Meta: thread.Meta(l.Meta)}
	})
}

func link(b *acp.ResourceLink) thread.Block {
	l := thread.Block{
		Type: thread.BlockResourceLink, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description,
		MIMEType: string(b.MIMEType),
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

func diff(c *acp.Diff) thread.ToolContent {
	d := &thread.Diff{}
	for _, change := range c.Changes {
		d.Changes = append(d.Changes, fileChange(&change))
	}
	content := thread.ToolContent{Type: thread.ToolContentDiff, Diff: d, Meta: thread.Meta(c.Meta)}
	if c.Patch != nil {
		d.Patch, d.PatchFormat = c.Patch.Text, string(c.Patch.Format)
		content.Meta = fold.Meta(content.Meta, thread.Meta(c.Patch.Meta))
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
