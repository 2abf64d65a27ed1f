package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// Session sends what happens in one session, a line each. It holds no state: make
// one wherever it is needed. All methods may be called from any goroutine; what one
// goroutine sends arrives in that order.
//
// The methods that report something return when the update is queued for sending.
// They still send when ctx has ended because the client cancelled the turn, so that
// the last words of a turn get out; their error then means that the connection is
// gone. Methods that ask something of the client end with ctx.
type Session struct {
	conn *Conn
	id   acp.SessionID
}

// Session returns the helper for the session with that id.
func (c *Conn) Session(id acp.SessionID) *Session { return &Session{c, id} }

// ID is the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// Update sends any update.
func (s *Session) Update(ctx context.Context, u acp.SessionUpdate) error {
	return s.conn.SessionUpdate(context.WithoutCancel(ctx), &acp.SessionNotification{SessionID: s.id, Update: u})
}

// Message sends a piece of what the agent says. Pieces join as they are.
func (s *Session) Message(ctx context.Context, text string) error {
	return s.Update(ctx, acp.AgentText(text))
}

// Thought sends a piece of what the agent thinks.
func (s *Session) Thought(ctx context.Context, text string) error {
	return s.Update(ctx, acp.AgentThought(text))
}

// UserMessage sends a piece of what the user said, when a session is replayed.
func (s *Session) UserMessage(ctx context.Context, text string) error {
	return s.Update(ctx, acp.UserText(text))
}

// Plan sends the whole plan; it replaces the one sent before.
func (s *Session) Plan(ctx context.Context, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.Plan{Entries: entries})
}

// Commands sends the whole list of slash commands; it replaces the one sent before.
func (s *Session) Commands(ctx context.Context, commands ...acp.AvailableCommand) error {
	return s.Update(ctx, &acp.AvailableCommandsUpdate{AvailableCommands: commands})
}

// Mode says that the session is in another mode now.
func (s *Session) Mode(ctx context.Context, id acp.SessionModeID) error {
	return s.Update(ctx, &acp.CurrentModeUpdate{CurrentModeID: id})
}

// ConfigOptions sends the whole list of options; it replaces the one sent before.
func (s *Session) ConfigOptions(ctx context.Context, options ...acp.SessionConfigOption) error {
	return s.Update(ctx, &acp.ConfigOptionUpdate{ConfigOptions: options})
}

// Title says how the session is called now; the empty string clears the title.
func (s *Session) Title(ctx context.Context, title string) error {
	patch := acp.Some(title)
	if title == "" {
		patch = acp.Null[string]()
	}
	return s.Info(ctx, &acp.SessionInfoUpdate{Title: patch})
}

// Info patches what a list of sessions shows of this one.
func (s *Session) Info(ctx context.Context, info *acp.SessionInfoUpdate) error {
	return s.Update(ctx, info)
}

// Usage says how many tokens of the context window are used, and how many it has.
func (s *Session) Usage(ctx context.Context, used, size uint64) error {
	return s.Update(ctx, &acp.UsageUpdate{Used: used, Size: size})
}

// Notice shows the user something that is not part of the conversation. Clients
// that do not advertise session.notices get nothing: the error is then an
// *acp.CapabilityError, and what matters should be sent as a message.
func (s *Session) Notice(ctx context.Context, severity acp.NoticeSeverity, title, description string) error {
	return s.Update(ctx, &acp.Notice{Severity: severity, Title: title, Description: description})
}
