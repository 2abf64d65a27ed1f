package thread

import (
	"encoding/json"
	"math"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
)

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

func diff(c *acp.Diff) thread.ToolContent {
	d := &thread.Diff{}
	for _, change := range c.Changes {
		d.Changes = append(d.Changes, fileChange(&change))
	}
	content := thread.ToolContent{Type: thread.ToolContentDiff, Diff: d, Meta: thread.Meta(c.Meta)}
	if c.Patch != nil {
		d.Patch, d.PatchFormat = c.Patch.Text, string(c.Patch.Format)
		content.Meta = merge(content.Meta, thread.Meta(c.Patch.Meta))
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
		command.Meta = merge(command.Meta, thread.Meta(in.Meta))
	case *acp.UnknownAvailableCommandInput:
		command.TakesInput, command.Raw = true, in.Raw
	}
	return command
}

func optionID(o *acp.SessionConfigOption) string { return string(o.ConfigID) }

func groupID(g *acp.SessionConfigSelectGroup) string { return string(g.GroupID) }
