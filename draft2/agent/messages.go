package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// NewMessageID returns a new id for a message.
func NewMessageID() acp.MessageID { return acp.MessageID("msg_" + rand.Text()) }

// Message sends a chunk of the message with the given id. The client concatenates the
// chunks.
func (s *Session) Message(ctx context.Context, id acp.MessageID, text string) error {
	return s.Update(ctx, &acp.AgentMessageChunk{MessageID: id, Content: acp.Text(text)})
}

// MessageFrom sends the texts that a model streams as chunks of the message with the given id.
// It sends the first text at once and joins the following ones for 25 ms or up to 2 KiB. A
// text may end inside a rune. MessageFrom returns when the sequence ends or yields an error,
// which it returns, or when ctx is done; the text that has arrived is sent in every case. It
// calls the sequence on the goroutine of the caller.
func (s *Session) MessageFrom(ctx context.Context, id acp.MessageID, deltas iter.Seq2[string, error]) error {
	return endpoint.JoinText(ctx, deltas, func(text string) error { return s.Message(ctx, id, text) })
}

// Thought sends a chunk of the thought with the given id.
func (s *Session) Thought(ctx context.Context, id acp.MessageID, text string) error {
	return s.Update(ctx, &acp.AgentThoughtChunk{MessageID: id, Content: acp.Text(text)})
}

// ReplaceMessage sends a complete message, which replaces the earlier content of the
// message with that id.
func (s *Session) ReplaceMessage(ctx context.Context, id acp.MessageID, content ...acp.ContentBlock) error {
	return s.Update(ctx, &acp.AgentMessage{MessageID: id, Content: acp.Some(content)})
}

// UserMessage sends a complete message of the user, for the replay of a session.
func (s *Session) UserMessage(ctx context.Context, id acp.MessageID, content ...acp.ContentBlock) error {
	return s.Update(ctx, &acp.UserMessage{MessageID: id, Content: acp.Some(content)})
}

// AddToolContent adds one item to the content of a tool call.
func (s *Session) AddToolContent(ctx context.Context, id acp.ToolCallID, item acp.ToolCallContent) error {
	return s.Update(ctx, &acp.ToolCallContentChunk{ToolCallID: id, Content: item})
}

// SendPlan sends the complete plan with the given id, which replaces the previous one.
func (s *Session) SendPlan(ctx context.Context, id acp.PlanID, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: id, Entries: entries}})
}

// StartToolCall announces a tool call and returns a ToolCall for the updates that follow.
// It replaces an empty ToolCallID by a new one and an absent Status by in_progress. The
// argument call is neither modified nor retained.
func (s *Session) StartToolCall(ctx context.Context, call *acp.ToolCallUpdate) (*ToolCall, error) {
	if call == nil {
		return nil, errors.New("agent: StartToolCall was given no call: pass at least its Title")
	}
	c := *call
	if c.ToolCallID == "" {
		// The id is random because a session, and with it the id, outlives this process.
		c.ToolCallID = acp.ToolCallID("call_" + rand.Text())
	}
	if c.Status.IsZero() {
		c.Status = acp.Some(acp.ToolCallStatusInProgress)
	}
	if err := s.Update(ctx, &c); err != nil {
		return nil, err
	}
	return s.ToolCall(c.ToolCallID), nil
}
