package agent

import (
	"context"
	"crypto/rand"
	"iter"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// Session has short methods for the messages of one session. It holds no state, so a
// Session can be created wherever it is needed; the Conn keeps the state of the session.
// All methods are safe for concurrent use. Messages that one goroutine sends arrive in the
// order in which it sent them.
//
// The methods that send an update return when the update is queued for sending. They also
// send if ctx is done, so that the last updates of cancelled work reach the client. The
// methods that send a request return if ctx is done.
type Session struct {
	conn *Conn
	id   acp.SessionID
}

// Session returns a Session for the session with the given id.
func (c *Conn) Session(id acp.SessionID) *Session { return &Session{c, id} }

// ID returns the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// NewMessageID returns a new id for a message.
func NewMessageID() acp.MessageID { return acp.MessageID("msg_" + rand.Text()) }

// Update sends the update u.
//
// Protocol: session/update.
func (s *Session) Update(ctx context.Context, u acp.SessionUpdate) error {
	return s.conn.SessionUpdate(context.WithoutCancel(ctx), &acp.UpdateSessionNotification{SessionID: s.id, Update: u})
}

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

// Plan sends the complete plan with the given id, which replaces the previous one.
func (s *Session) Plan(ctx context.Context, id acp.PlanID, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: id, Entries: entries}})
}

// Commands sends the complete list of commands, which replaces the previous one.
func (s *Session) Commands(ctx context.Context, commands ...acp.AvailableCommand) error {
	return s.Update(ctx, &acp.AvailableCommandsUpdate{AvailableCommands: commands})
}

// ConfigOptions sends the complete list of options, which replaces the previous one.
func (s *Session) ConfigOptions(ctx context.Context, options ...acp.SessionConfigOption) error {
	return s.Update(ctx, &acp.ConfigOptionUpdate{ConfigOptions: options})
}

// Title reports the new title of the session. The empty string clears the title.
func (s *Session) Title(ctx context.Context, title string) error {
	patch := acp.Some(title)
	if title == "" {
		patch = acp.Null[string]()
	}
	return s.Info(ctx, &acp.SessionInfoUpdate{Title: patch})
}

// Info changes the information about this session that a list of sessions shows. Absent
// members leave their value unchanged.
func (s *Session) Info(ctx context.Context, info *acp.SessionInfoUpdate) error {
	return s.Update(ctx, info)
}

// Usage reports the number of used tokens and the size of the context window in tokens.
func (s *Session) Usage(ctx context.Context, used, size uint64) error {
	return s.Update(ctx, &acp.UsageUpdate{Used: used, Size: size})
}

// Notice shows the user a text that is not part of the conversation.
func (s *Session) Notice(ctx context.Context, severity acp.NoticeSeverity, title, description string) error {
	return s.Update(ctx, &acp.Notice{Severity: severity, Title: title, Description: description})
}
