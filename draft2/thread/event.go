package thread

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// event returns the event of an update, or nil for a nil update.
func event(u acp.SessionUpdate) thread.Event {
	switch u := u.(type) {
	case *acp.UserMessage:
		return message(thread.RoleUser, u.MessageID, u.Content, u.Meta)
	case *acp.AgentMessage:
		return message(thread.RoleAgent, u.MessageID, u.Content, u.Meta)
	case *acp.AgentThought:
		return message(thread.RoleThought, u.MessageID, u.Content, u.Meta)
	case *acp.SessionStateUpdate:
		return state(u.StateUpdate)
	case *acp.ToolCallUpdate, *acp.ToolCallContentChunk:
		c, _ := ToolCallOf(u)
		return c
	case *acp.TerminalUpdate:
		return terminal(u)
	case *acp.TerminalOutputChunk:
		return output(u)
	case *acp.AvailableCommandsUpdate:
		return thread.CommandsChanged{Commands: commandsOf(u.AvailableCommands)}
	case *acp.UsageUpdate:
		return thread.UsageChanged{Used: u.Used, Size: u.Size, Cost: mapped(u.Cost, cost), Meta: thread.Meta(u.Meta)}
	case *acp.CompactionUpdate:
		return thread.CompactionChanged{
			ID: string(u.CompactionID), Status: new(string(u.Status)), Summary: mapped(u.Summary, contentBlocks),
			Error: patch(u.Error), Meta: thread.Meta(u.Meta),
		}
	case *acp.SubagentUpdate:
		return subagent(u)
	}
	return alike(u)
}

// fallback is patch for a value that null sets to its default.
func fallback[T ~string](o acp.Opt[T], byDefault T) *string {
	if o.IsNull() {
		return new(string(byDefault))
	}
	return patch(o)
}

// present returns nil for absent JSON, and no JSON for null.
func present(raw json.RawMessage) *json.RawMessage {
	switch {
	case raw == nil:
		return nil
	case string(raw) == "null":
		return new(json.RawMessage)
	}
	return &raw
}

func chunk(role thread.Role, id acp.MessageID, content acp.ContentBlock, meta acp.Meta) thread.MessageChunk {
	return thread.MessageChunk{Role: role, ID: string(id), Content: block(content), Meta: thread.Meta(meta)}
}

func message(role thread.Role, id acp.MessageID, content acp.Opt[[]acp.ContentBlock], meta acp.Meta) thread.Event {
	return thread.MessageChanged{Role: role, ID: string(id), Content: mapped(content, contentBlocks), Meta: thread.Meta(meta)}
}

// ToolCallOf returns what an update changes in a tool call, and reports whether the update is
// about one.
func ToolCallOf(u acp.SessionUpdate) (c thread.ToolCallChanged, ok bool) {
	switch u := u.(type) {
	case *acp.ToolCallUpdate:
		return thread.ToolCallChanged{
			ID: string(u.ToolCallID), Title: patch(u.Title), Name: patch(u.Name),
			Kind: fallback(u.Kind, acp.ToolKindOther), Status: fallback(u.Status, acp.ToolCallStatusPending),
			Content: mapped(u.Content, toolContents), Locations: mapped(u.Locations, locations),
			RawInput: present(u.RawInput), RawOutput: present(u.RawOutput),
			Cancellable: mapped(u.Capabilities, func(c acp.ToolCallCapabilities) bool { return c.Cancel != nil }),
			Meta:        thread.Meta(u.Meta),
		}, true
	case *acp.ToolCallContentChunk:
		return thread.ToolCallChanged{ID: string(u.ToolCallID), Append: []thread.ToolContent{toolContent(u.Content)}, Meta: thread.Meta(u.Meta)}, true
	}
	return thread.ToolCallChanged{}, false
}

func terminal(u *acp.TerminalUpdate) thread.Event {
	c := thread.TerminalChanged{
		ID: string(u.TerminalID), Command: patch(u.Command), Cwd: patch(u.Cwd), Exit: mapped(u.ExitStatus, exit),
		Cancellable: mapped(u.Capabilities, func(c acp.TerminalCapabilities) bool { return c.Cancel != nil }),
		Meta:        thread.Meta(u.Meta),
	}
	c.Columns = mapped(u.Size, func(s acp.TerminalSize) int { return int(s.Cols) })
	c.Rows = mapped(u.Size, func(s acp.TerminalSize) int { return int(s.Rows) })
	if o, ok := u.Output.Get(); ok {
		data, _ := decode(o.Data)
		c.Output, c.Meta = &data, fold.Meta(c.Meta, thread.Meta(o.Meta))
	} else if u.Output.IsNull() {
		c.Output = new([]byte)
	}
	return c
}

func exit(s acp.TerminalExitStatus) *thread.Exit {
	return &thread.Exit{Code: s.ExitCode, Signal: s.Signal, Meta: thread.Meta(s.Meta)}
}

// output returns the event of a piece of output. Pieces are encoded one by one, so that
// they are joined as bytes and never as text. One that is not base64 is shown unchanged.
func output(u *acp.TerminalOutputChunk) thread.Event {
	data, ok := decode(u.Data)
	if !ok {
		raw, _ := json.Marshal(u)
		return thread.Unrecognized{Type: "terminal_output_chunk", Raw: raw}
	}
	return thread.TerminalChanged{ID: string(u.TerminalID), Append: data, Meta: thread.Meta(u.Meta)}
}

// decode reads base64, with or without padding, as far as it goes. It reports whether
// that is all of it.
func decode(s string) ([]byte, bool) {
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return data, err == nil
}

func cost(c acp.Cost) *thread.Cost {
	return &thread.Cost{Amount: c.Amount, Currency: c.Currency, Meta: thread.Meta(c.Meta)}
}

// state returns the event of a state update; nil for none.
func state(u acp.StateUpdate) thread.Event {
	switch s := u.(type) {
	case *acp.RunningStateUpdate:
		return thread.StateChanged{State: thread.StateRunning, Background: background(s.Background), Meta: thread.Meta(s.Meta)}
	case *acp.RequiresActionStateUpdate:
		return thread.StateChanged{State: thread.StateRequiresAction, Background: background(s.Background), Meta: thread.Meta(s.Meta)}
	case *acp.IdleStateUpdate:
		return idleState(s)
	case *acp.UnknownStateUpdate:
		return thread.StateChanged{State: "unknown", Background: background(s.Background), Meta: thread.Meta(s.Meta)}
	case *acp.OtherStateUpdate:
		return thread.StateChanged{State: s.Type, Raw: s.Raw}
	}
	return nil
}

func idleState(s *acp.IdleStateUpdate) thread.StateChanged {
	c := thread.StateChanged{
		State: thread.StateIdle, StopReason: string(s.StopReason), Usage: tokens(s.Usage),
		Background: background(s.Background), Meta: thread.Meta(s.Meta),
	}
	if s.Error != nil {
		c.Error = failure(s.Error)
	}
	return c
}

// background returns nil for a nil list, which keeps the earlier list.
func background(list []acp.BackgroundWork) *[]thread.Background {
	if list == nil {
		return nil
	}
	all := []thread.Background{}
	for _, w := range list {
		switch w := w.(type) {
		case *acp.BackgroundTerminal:
			all = append(all, thread.Background{Type: "terminal", ID: string(w.TerminalID), Meta: thread.Meta(w.Meta)})
		case *acp.BackgroundToolCall:
			all = append(all, thread.Background{Type: "tool_call", ID: string(w.ToolCallID), Meta: thread.Meta(w.Meta)})
		case *acp.BackgroundSubagent:
			all = append(all, thread.Background{Type: "subagent", ID: string(w.SessionID), Meta: thread.Meta(w.Meta)})
		case *acp.UnknownBackgroundWork:
			all = append(all, thread.Background{Type: w.Type, Raw: w.Raw})
		}
	}
	return &all
}

func failure(e *acp.Error) *thread.Failure {
	return &thread.Failure{Message: e.Message, Code: int(e.Code), Data: e.Data}
}

// subagent returns the event of an update of a subagent. A state of null is unknown, and
// not idle.
func subagent(u *acp.SubagentUpdate) thread.Event {
	c := subagentChanged(u)
	if u.State.IsZero() {
		return c
	}
	now := thread.StateChanged{}
	if e, ok := state(u.State.Or(nil)).(thread.StateChanged); ok {
		now = e
	}
	c.State, c.StopReason, c.Error, c.Usage, c.Background = &now.State, &now.StopReason, &now.Error, &now.Usage, now.Background
	return c
}

// TurnOf returns the value of Snapshot.Turn after the state update idle.
func TurnOf(idle *acp.IdleStateUpdate) thread.Turn {
	c := idleState(idle)
	t := thread.Turn{State: c.State, StopReason: c.StopReason, Error: c.Error, Usage: c.Usage, Meta: c.Meta}
	if c.Background != nil {
		t.Background = *c.Background
	}
	return t
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
		command.Meta = fold.Meta(command.Meta, thread.Meta(in.Meta))
	case *acp.UnknownAvailableCommandInput:
		command.TakesInput, command.Raw = true, in.Raw
	}
	return command
}

func optionID(o *acp.SessionConfigOption) string { return string(o.ConfigID) }

func groupID(g *acp.SessionConfigSelectGroup) string { return string(g.GroupID) }
