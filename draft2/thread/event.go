package thread

import (
	"encoding/base64"
	"encoding/json"
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
		return thread.UsageChanged{Used: u.Used, Size: u.Size, Cost: fold.Patch(u.Cost, cost), Meta: thread.Meta(u.Meta)}
	case *acp.CompactionUpdate:
		return thread.CompactionChanged{
			ID: string(u.CompactionID), Status: new(string(u.Status)), Summary: fold.Patch(u.Summary, contentBlocks),
			Error: fold.TextPatch(u.Error), Meta: thread.Meta(u.Meta),
		}
	case *acp.SubagentUpdate:
		return subagent(u)
	case *acp.PromptSuggestionsUpdate:
		return thread.SuggestionsChanged{Suggestions: fold.Each(u.Suggestions, func(s acp.PromptSuggestion) thread.Suggestion {
			return thread.Suggestion{Prompt: contentBlocks(s.Prompt), Meta: thread.Meta(s.Meta)}
		})}
	}
	return other(u)
}

// other returns the event of an update that is rare.
func other(u acp.SessionUpdate) thread.Event {
	switch u := u.(type) {
	case *acp.PlanUpdate:
		return plan(u)
	case *acp.PlanRemoved:
		return thread.PlanRemoved{ID: string(u.PlanID)}
	case *acp.ConfigOptionUpdate:
		return thread.OptionsChanged{Options: optionsOf(u.ConfigOptions)}
	case *acp.SessionInfoUpdate:
		return thread.InfoChanged{Title: fold.TextPatch(u.Title), UpdatedAt: fold.TextPatch(u.UpdatedAt), Meta: thread.Meta(u.Meta)}
	case *acp.Notice:
		return thread.Noticed{Notice: thread.Notice{Severity: string(u.Severity), Title: u.Title, Description: u.Description, Meta: thread.Meta(u.Meta)}}
	case *acp.CompactionSummaryChunk:
		return thread.CompactionChanged{ID: string(u.CompactionID), Append: []thread.Block{block(u.Content)}, Meta: thread.Meta(u.Meta)}
	case *acp.SessionMessage:
		c := thread.MessageChanged{Role: thread.RoleSession, ID: string(u.MessageID), Content: fold.Patch(u.Content, contentBlocks), Meta: thread.Meta(u.Meta)}
		c.From, c.To = address(u.SenderSessionID, u.SenderMessageID), address(u.RecipientSessionID, u.RecipientMessageID)
		return c
	case *acp.CursorUpdate:
		c := thread.CursorChanged{ID: string(u.CursorID), Meta: thread.Meta(u.Meta)}
		c.Fork = fold.Patch(u.Capabilities, func(p acp.CursorCapabilities) bool { return p.Fork != nil })
		if u.Anchor != nil {
			c.Anchor = new(thread.AnchorOf(u.Anchor))
		}
		return c
	case *acp.UnknownSessionUpdate:
		return thread.Unrecognized{Type: u.Type, Raw: u.Raw}
	}
	return nil
}

// address returns nil if neither id is given.
func address(session acp.Opt[acp.SessionID], message acp.Opt[acp.MessageID]) *thread.Address {
	if session.IsZero() && message.IsZero() {
		return nil
	}
	return &thread.Address{SessionID: string(session.Or("")), MessageID: string(message.Or(""))}
}

// fallback is patch for a value that null sets to its default.
func fallback[T ~string](o acp.Opt[T], byDefault T) *string {
	if o.IsNull() {
		return new(string(byDefault))
	}
	return fold.TextPatch(o)
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
	return thread.MessageChanged{Role: role, ID: string(id), Content: fold.Patch(content, contentBlocks), Meta: thread.Meta(meta)}
}

// ToolCallOf returns what an update changes in a tool call, and reports whether the update is
// about one.
func ToolCallOf(u acp.SessionUpdate) (c thread.ToolCallChanged, ok bool) {
	switch u := u.(type) {
	case *acp.ToolCallUpdate:
		return thread.ToolCallChanged{
			ID: string(u.ToolCallID), Title: fold.TextPatch(u.Title), Name: fold.TextPatch(u.Name),
			Kind: fallback(u.Kind, acp.ToolKindOther), Status: fallback(u.Status, acp.ToolCallStatusPending),
			Content: fold.Patch(u.Content, toolContents), Locations: fold.Patch(u.Locations, locations),
			RawInput: present(u.RawInput), RawOutput: present(u.RawOutput),
			Cancellable: fold.Patch(u.Capabilities, func(c acp.ToolCallCapabilities) bool { return c.Cancel != nil }),
			Meta:        thread.Meta(u.Meta),
		}, true
	case *acp.ToolCallContentChunk:
		return thread.ToolCallChanged{ID: string(u.ToolCallID), Append: []thread.ToolContent{toolContent(u.Content)}, Meta: thread.Meta(u.Meta)}, true
	}
	return thread.ToolCallChanged{}, false
}

func terminal(u *acp.TerminalUpdate) thread.Event {
	c := thread.TerminalChanged{
		ID: string(u.TerminalID), Command: fold.TextPatch(u.Command), Cwd: fold.TextPatch(u.Cwd), Exit: fold.Patch(u.ExitStatus, exit),
		Cancellable: fold.Patch(u.Capabilities, func(c acp.TerminalCapabilities) bool { return c.Cancel != nil }),
		Meta:        thread.Meta(u.Meta),
	}
	c.Columns = fold.Patch(u.Size, func(s acp.TerminalSize) int { return int(s.Cols) })
	c.Rows = fold.Patch(u.Size, func(s acp.TerminalSize) int { return int(s.Rows) })
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
	c := thread.SubagentChanged{
		SessionID: string(u.SessionID), Title: fold.TextPatch(u.Title), Description: fold.TextPatch(u.Description), Cwd: fold.TextPatch(u.Cwd),
		AdditionalDirectories: fold.Patch(u.AdditionalDirectories, fold.Texts),
		Cancellable:           fold.Patch(u.Capabilities, func(c acp.SubagentSessionCapabilities) bool { return c.Cancel != nil }),
		Meta:                  thread.Meta(u.Meta),
	}
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
