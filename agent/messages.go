package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// Message sends a chunk of the agent's message. The client concatenates the chunks.
func (s *Session) Message(ctx context.Context, text string) error {
	return s.Update(ctx, acp.AgentText(text))
}

// MessageFrom sends the texts that a model streams as chunks of the agent's message.
// It sends the first text at once and joins the following ones for 25 ms or up to 2 KiB. A
// text may end inside a rune. MessageFrom returns when the sequence ends or yields an error,
// which it returns, or when ctx is done; the text that has arrived is sent in every case. It
// calls the sequence on the goroutine of the caller.
func (s *Session) MessageFrom(ctx context.Context, deltas iter.Seq2[string, error]) error {
	return endpoint.JoinText(ctx, deltas, func(text string) error { return s.Message(ctx, text) })
}

// Thought sends a chunk of the agent's thoughts.
func (s *Session) Thought(ctx context.Context, text string) error {
	return s.Update(ctx, acp.AgentThought(text))
}

// UserMessage sends a chunk of a user's message, for the replay of a session.
func (s *Session) UserMessage(ctx context.Context, text string) error {
	return s.Update(ctx, acp.UserText(text))
}

// Plan sends the complete plan, which replaces the previous one.
func (s *Session) Plan(ctx context.Context, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.Plan{Entries: entries})
}

// Mode reports the new current mode of the session.
func (s *Session) Mode(ctx context.Context, id acp.SessionModeID) error {
	return s.Update(ctx, &acp.CurrentModeUpdate{CurrentModeID: id})
}

// StartToolCall announces a tool call and returns a ToolCall for the updates that follow.
// It replaces an empty ToolCallID by a new one and an empty Status by in_progress. The
// argument call is neither modified nor retained.
//
//	call, err := s.StartToolCall(ctx, &acp.ToolCall{Title: "Read go.mod", Kind: acp.ToolKindRead})
//	if err != nil {
//		return err
//	}
//	text, err := s.ReadFile(ctx, path)
//	if err != nil {
//		return call.Fail(ctx, err)
//	}
//	return call.Finish(ctx, acp.ToolText(text))
func (s *Session) StartToolCall(ctx context.Context, call *acp.ToolCall) (*ToolCall, error) {
	if call == nil {
		return nil, errors.New("agent: StartToolCall was given no call: pass at least its Title")
	}
	c := *call
	if c.ToolCallID == "" {
		// The id is random because the session, and the id with it, may outlive this process.
		c.ToolCallID = acp.ToolCallID("call_" + rand.Text())
	}
	if c.Status == "" {
		c.Status = acp.ToolCallStatusInProgress
	}
	if err := s.Update(ctx, &c); err != nil {
		return nil, err
	}
	return s.ToolCall(c.ToolCallID), nil
}

func (t *ToolCall) status(ctx context.Context, status acp.ToolCallStatus, content []acp.ToolCallContent) error {
	return t.Update(ctx, &acp.ToolCallUpdate{Status: status, Content: content})
}

// addContent adds an item to a copy of the content of the update.
func addContent(u *acp.ToolCallUpdate, item acp.ToolCallContent) {
	u.Content = append(slices.Clip(u.Content), item)
}

// AskPermission asks the user whether a tool call may proceed, and returns the option
// that the user chose. The call describes the tool call, which need not have been
// announced before. If there are no options, the user can choose to allow or to reject
// the call once.
//
// If the turn is cancelled, the error wraps [acp.ErrTurnCancelled] or is the error of
// ctx. It is also an error if the client returns an outcome of an unknown kind or an
// option that was not offered, so a nil error always comes with one of the options. Use
// [Allows] to determine whether the option allows the call:
//
//	choice, err := s.AskPermission(ctx, call)
//	if err != nil {
//		return err
//	}
//	if !agent.Allows(choice) { ... }
func (s *Session) AskPermission(ctx context.Context, call *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	if call == nil {
		call = &acp.ToolCallUpdate{}
	}
	return s.askPermission(ctx, acp.RequestPermissionRequest{ToolCall: *call, Options: options})
}

// AskPermission asks the user whether this tool call may proceed; see
// [Session.AskPermission].
func (t *ToolCall) AskPermission(ctx context.Context, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	return t.session.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: t.id}, options...)
}
