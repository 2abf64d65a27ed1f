package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// A Call is one call of a tool. Its methods are safe for concurrent use. After Run of the tool has
// returned, the methods that send something do nothing.
type Call struct {
	tool    *Tool
	session Session
	id      acp.ToolCallID
	input   json.RawMessage
	summary Summary

	mu        sync.Mutex // held while an update is sent, so that they arrive in order
	over      bool
	status    acp.ToolCallStatus
	shown     []acp.ToolCallContent
	progress  string
	locations []acp.ToolCallLocation
}

// ID returns the id under which the client knows the call.
func (c *Call) ID() acp.ToolCallID { return c.id }

// Tool returns the name of the tool.
func (c *Call) Tool() string { return c.tool.Name }

// Effect returns what the tool does.
func (c *Call) Effect() Effect { return c.tool.Effect }

// Summary returns the result of Describe. Its title is never empty, and its input is what the
// client sees.
func (c *Call) Summary() Summary { return c.summary }

// Input returns a copy of the input.
func (c *Call) Input() json.RawMessage { return bytes.Clone(c.input) }

// Decode decodes the input.
func (c *Call) Decode(v any) error { return json.Unmarshal(c.input, v) }

// Progress shows a text, such as the last lines of a command's output. It replaces the text of the
// previous Progress. The result of the call replaces it.
func (c *Call) Progress(ctx context.Context, text string) error {
	return c.change(ctx, func(u *acp.ToolCallUpdate) {
		c.progress = clip(text, maxText)
		u.Content = c.content()
	})
}

// Show adds content to the call. The content remains when the call has ended.
func (c *Call) Show(ctx context.Context, content ...acp.ToolCallContent) error {
	return c.change(ctx, func(u *acp.ToolCallUpdate) {
		c.shown = append(c.shown, content...)
		u.Content = c.content()
	})
}

// Diff shows the change of a file; a nil old means that the file is new. It replaces an earlier
// diff of the same file, such as that of the preview.
func (c *Call) Diff(ctx context.Context, path string, old *string, new string) error {
	return c.change(ctx, func(u *acp.ToolCallUpdate) {
		c.shown = slices.DeleteFunc(c.shown, func(x acp.ToolCallContent) bool {
			d, ok := x.(*acp.Diff)
			return ok && d.Path == path
		})
		c.shown = append(c.shown, &acp.Diff{Path: path, OldText: old, NewText: new})
		u.Content = c.content()
	})
}

// At tells the client which line of a file the call is working on, so that an editor can follow it;
// 0 means no line.
func (c *Call) At(ctx context.Context, path string, line uint32) error {
	return c.change(ctx, func(u *acp.ToolCallUpdate) {
		at := acp.ToolCallLocation{Path: path}
		if line > 0 {
			at.Line = &line
		}
		c.locations = append(c.locations, at)
		u.Locations = slices.Clone(c.locations)
	})
}

func (c *Call) content() []acp.ToolCallContent {
	all := slices.Clone(c.shown)
	if c.progress != "" {
		all = append(all, acp.ToolText(c.progress))
	}
	return all
}

// change modifies an update with set and sends it, unless the call has ended.
func (c *Call) change(ctx context.Context, set func(*acp.ToolCallUpdate)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	u := &acp.ToolCallUpdate{ToolCallID: c.id, Status: c.status} // some clients take an update without a status as pending
	set(u)
	c.status = u.Status
	return c.session.Update(ctx, u)
}

// announce shows the call as pending. known reports whether the client knows the call already.
func (c *Call) announce(ctx context.Context, known bool) error {
	u := c.pending()
	if known {
		u.Status = ""
		return c.session.Update(ctx, u)
	}
	return c.session.Update(ctx, &acp.ToolCall{
		ToolCallID: u.ToolCallID, Title: u.Title, Name: u.Name, Kind: u.Kind, Status: u.Status,
		RawInput: u.RawInput, Locations: u.Locations, Content: u.Content,
	})
}

// pending returns the description of the call before it runs, for the client.
func (c *Call) pending() *acp.ToolCallUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &acp.ToolCallUpdate{
		ToolCallID: c.id, Title: c.summary.Title, Name: c.tool.Name, Kind: c.tool.Kind, Status: acp.ToolCallStatusPending,
		RawInput: c.summary.Input, Locations: c.locations, Content: c.content(),
	}
}

// end reports how the call has ended. Later changes do nothing.
func (c *Call) end(ctx context.Context, u *acp.ToolCallUpdate, model []Part) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	u.ToolCallID = c.id
	if len(u.Content) > 0 || len(c.shown) > 0 || c.progress != "" { // otherwise there is no content to replace
		u.Content = append(append([]acp.ToolCallContent{}, c.shown...), u.Content...)
	}
	err := c.sendEnd(ctx, u, model)
	if _, invalid := errors.AsType[*acp.InvalidError](err); invalid { // the call has ended nevertheless
		u = &acp.ToolCallUpdate{ToolCallID: c.id, Status: u.Status, Content: []acp.ToolCallContent{acp.ToolText("[the result cannot be shown]")}}
		err = c.sendEnd(ctx, u, model)
	}
	return err
}

func (c *Call) sendEnd(ctx context.Context, u *acp.ToolCallUpdate, model []Part) error {
	if s, ok := c.session.(Ender); ok {
		return s.End(ctx, u, model)
	}
	return c.session.Update(ctx, u)
}

// completed returns the last update of a call that has succeeded.
func completed(r *Result) *acp.ToolCallUpdate {
	u := &acp.ToolCallUpdate{Status: acp.ToolCallStatusCompleted, Content: r.Content}
	if r.Content == nil {
		for _, p := range r.Model {
			if p.Text != "" {
				u.Content = append(u.Content, acp.ToolText(p.Text))
			}
		}
	}
	if r.Raw != nil {
		if raw, err := json.Marshal(r.Raw); err == nil && len(raw) <= maxRaw && !tooDeep(raw) {
			u.RawOutput = raw
		}
	}
	return u
}

// The limits of what is sent of a result to the client and the model. Models do not read more, and
// a message must not exceed the limit of the connection.
const (
	maxText  = 256 << 10 // bytes of one text; the rest is cut off
	maxTexts = 1 << 20   // bytes of all texts of a result together
	maxRaw   = 1 << 20   // bytes of Raw as JSON; a longer value is omitted
	maxData  = 8 << 20   // bytes of the data of all parts; longer data is replaced by a text
	maxParts = 256

	maxMessage = 32 << 10 // bytes of the message of an error in a JSON object; escaped, it must fit into a text
)

// bound applies the limits to a result.
func (r *Result) bound() {
	texts, data := maxTexts, maxData
	left := max(len(r.Model)-maxParts, 0)
	r.Model = slices.Clone(r.Model[:len(r.Model)-left])
	for i, p := range r.Model {
		if len(p.Data) > data {
			p = Part{Text: "[" + cmp.Or(p.MIMEType, "data") + " that is too large to be read]"}
		}
		p.Text = clip(p.Text, min(maxText, texts))
		data, texts = data-len(p.Data), max(texts-len(p.Text), 0)
		r.Model[i] = p
	}
	if left > 0 {
		r.Model = append(r.Model, Part{Text: fmt.Sprintf("[%d more parts are left out]", left)})
	}
	texts = maxTexts
	r.Content = slices.Clone(r.Content)
	for i, x := range r.Content {
		if text := textOf(x); text != nil {
			if len(text.Text) > min(maxText, texts) {
				text = &acp.TextContent{Text: clip(text.Text, min(maxText, texts))}
				r.Content[i] = &acp.Content{Content: text}
			}
			texts = max(texts-len(text.Text), 0)
		}
	}
}

// textOf returns the text in the content, or nil. The content is the tool's, and may be a nil pointer.
func textOf(x acp.ToolCallContent) *acp.TextContent {
	if c, ok := x.(*acp.Content); ok && c != nil {
		text, _ := c.Content.(*acp.TextContent)
		return text
	}
	return nil
}

// clip cuts a text between runes and adds a note.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "\n[the rest is left out]"
}
