package negotiate

import (
	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
)

// blockV1 returns a block of a prompt in the form of version 1.
func blockV1(b thread.Block) acp.ContentBlock {
	var hints *acp.Annotations
	if a := b.Annotations; a != nil {
		hints = &acp.Annotations{LastModified: a.LastModified, Priority: a.Priority, Meta: acp.Meta(a.Meta)}
		for _, role := range a.Audience {
			hints.Audience = append(hints.Audience, acp.Role(role))
		}
	}
	switch {
	case b.Raw != nil && b.Type != thread.BlockResource:
		return &acp.UnknownContentBlock{Type: b.Type, Raw: b.Raw}
	case b.Type == thread.BlockImage:
		return &acp.ImageContent{Data: b.Data, MIMEType: b.MIMEType, URI: b.URI, Annotations: hints, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockAudio:
		return &acp.AudioContent{Data: b.Data, MIMEType: b.MIMEType, Annotations: hints, Meta: acp.Meta(b.Meta)}
	case b.Type == thread.BlockResourceLink:
		return &acp.ResourceLink{
			Name: b.Name, URI: b.URI, Title: b.Title, Description: b.Description, MIMEType: b.MIMEType, Size: b.Size,
			Annotations: hints, Meta: acp.Meta(b.Meta),
		}
	case b.Type == thread.BlockResource:
		r := &acp.EmbeddedResource{Annotations: hints, Meta: acp.Meta(b.Meta)}
		switch {
		case b.Raw != nil:
			r.Resource = &acp.UnknownEmbeddedResourceResource{Raw: b.Raw}
		case b.Data != "":
			r.Resource = &acp.BlobResourceContents{Blob: b.Data, URI: b.URI, MIMEType: b.MIMEType, Meta: acp.Meta(b.ResourceMeta)}
		default:
			r.Resource = &acp.TextResourceContents{Text: b.Text, URI: b.URI, MIMEType: b.MIMEType, Meta: acp.Meta(b.ResourceMeta)}
		}
		return r
	}
	return &acp.TextContent{Text: b.Text, Annotations: hints, Meta: acp.Meta(b.Meta)}
}

// blockV2 returns a block of a prompt in the form of version 2.
func blockV2(b thread.Block) acp2.ContentBlock {
	var hints *acp2.Annotations
	if a := b.Annotations; a != nil {
		hints = &acp2.Annotations{LastModified: a.LastModified, Priority: a.Priority, Meta: acp2.Meta(a.Meta)}
		for _, role := range a.Audience {
			hints.Audience = append(hints.Audience, acp2.Role(role))
		}
	}
	kind := acp2.MediaType(b.MIMEType)
	switch {
	case b.Raw != nil && b.Type != thread.BlockResource:
		return &acp2.UnknownContentBlock{Type: b.Type, Raw: b.Raw}
	case b.Type == thread.BlockImage:
		return &acp2.ImageContent{Data: b.Data, MIMEType: kind, URI: b.URI, Annotations: hints, Meta: acp2.Meta(b.Meta)}
	case b.Type == thread.BlockAudio:
		return &acp2.AudioContent{Data: b.Data, MIMEType: kind, Annotations: hints, Meta: acp2.Meta(b.Meta)}
	case b.Type == thread.BlockResourceLink:
		l := &acp2.ResourceLink{
			Name: b.Name, URI: b.URI, Title: b.Title, Description: b.Description, MIMEType: kind, Annotations: hints, Meta: acp2.Meta(b.Meta),
		}
		if b.Size != nil && *b.Size >= 0 {
			l.Size = new(uint64(*b.Size))
		}
		for _, i := range b.Icons {
			l.Icons = append(l.Icons, acp2.Icon{
				Src: i.URI, MIMEType: acp2.MediaType(i.MIMEType), Sizes: i.Sizes, Theme: acp2.IconTheme(i.Theme), Meta: acp2.Meta(i.Meta),
			})
		}
		return l
	case b.Type == thread.BlockResource:
		r := &acp2.EmbeddedResource{Annotations: hints, Meta: acp2.Meta(b.Meta)}
		switch {
		case b.Raw != nil:
			r.Resource = &acp2.UnknownEmbeddedResourceResource{Raw: b.Raw}
		case b.Data != "":
			r.Resource = &acp2.BlobResourceContents{Blob: b.Data, URI: b.URI, MIMEType: kind, Meta: acp2.Meta(b.ResourceMeta)}
		default:
			r.Resource = &acp2.TextResourceContents{Text: b.Text, URI: b.URI, MIMEType: kind, Meta: acp2.Meta(b.ResourceMeta)}
		}
		return r
	}
	return &acp2.TextContent{Text: b.Text, Annotations: hints, Meta: acp2.Meta(b.Meta)}
}
