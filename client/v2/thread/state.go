package thread

import (
	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
)

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

func tokens(u *acp.Usage) *thread.Tokens {
	if u == nil {
		return nil
	}
	return &thread.Tokens{
		Total: u.TotalTokens, Input: u.InputTokens, Output: u.OutputTokens, Thought: u.ThoughtTokens,
		CachedRead: u.CachedReadTokens, CachedWrite: u.CachedWriteTokens, Meta: thread.Meta(u.Meta),
	}
}

// subagent returns the event of an update of a subagent. A state of null is unknown, and
// not idle.
func subagent(u *acp.SubagentUpdate) thread.Event {
	c := thread.SubagentChanged{
		SessionID: string(u.SessionID), Title: patch(u.Title), Description: patch(u.Description), Cwd: patch(u.Cwd),
		AdditionalDirectories: mapped(u.AdditionalDirectories, texts), Meta: thread.Meta(u.Meta),
	}
	c.Cancellable = mapped(u.Capabilities, func(c acp.SubagentSessionCapabilities) bool { return c.Cancel != nil })
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

func texts(list []acp.AbsolutePath) []string {
	var all []string
	for _, p := range list {
		all = append(all, string(p))
	}
	return all
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
