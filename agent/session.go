package agent

import (
	"context"
	"iter"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/validate"
)

// Session has short methods for the messages of one session. It holds no state, so a
// Session can be created wherever it is needed. All methods are safe for concurrent use.
// Messages that one goroutine sends arrive in the order in which it sent them.
//
// The methods that send an update return when the update is queued for sending. They also
// send if ctx is done, so that the last updates of cancelled work reach the client; an
// error then means that the connection has ended. The methods that send a request return
// if ctx is done.
type Session struct {
	conn *Conn
	id   acp.SessionID
}

// Session returns a Session for the session with the given id.
func (c *Conn) Session(id acp.SessionID) *Session { return &Session{c, id} }

// ID returns the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// Update sends the update u.
func (s *Session) Update(ctx context.Context, u acp.SessionUpdate) error {
	return s.conn.SessionUpdate(context.WithoutCancel(ctx), &acp.SessionNotification{SessionID: s.id, Update: u})
}

// Check returns the error of Update for an update that breaks a rule of the protocol, and sends nothing. An
// agent that stores an update before it sends it calls Check before both.
func (s *Session) Check(u acp.SessionUpdate) error {
	if wrong := validate.Struct(&acp.SessionNotification{SessionID: s.id, Update: u}, true); wrong != nil {
		return invalid(acp.MethodSessionUpdate+" params", wrong)
	}
	return nil
}

// SetCommands sends the complete list of slash commands, which replaces the previous one.
func (s *Session) SetCommands(ctx context.Context, commands ...acp.AvailableCommand) error {
	return s.Update(ctx, &acp.AvailableCommandsUpdate{AvailableCommands: commands})
}

// SetConfigOptions sends the complete list of options, which replaces the previous one. A client that
// did not advertise boolean options gets the others.
func (s *Session) SetConfigOptions(ctx context.Context, options ...acp.SessionConfigOption) error {
	u := &acp.ConfigOptionUpdate{ConfigOptions: options}
	if !s.conn.showsSwitches() {
		u = withoutSwitches(u, func(u *acp.ConfigOptionUpdate) *[]acp.SessionConfigOption { return &u.ConfigOptions })
	}
	return s.Update(ctx, u)
}

// SetTitle reports the new title of the session. The empty string clears the title.
func (s *Session) SetTitle(ctx context.Context, title string) error {
	patch := acp.Some(title)
	if title == "" {
		patch = acp.Null[string]()
	}
	return s.SendInfo(ctx, &acp.SessionInfoUpdate{Title: patch})
}

// SendInfo changes the information about this session that a list of sessions shows. Absent
// members leave their value unchanged.
func (s *Session) SendInfo(ctx context.Context, info *acp.SessionInfoUpdate) error {
	return s.Update(ctx, info)
}

// SendUsage reports the number of used tokens and the size of the context window in tokens.
func (s *Session) SendUsage(ctx context.Context, used, size uint64) error {
	return s.Update(ctx, &acp.UsageUpdate{Used: used, Size: size})
}

// SendNotice shows the user a text that is not part of the conversation. In version 1, nothing
// is sent if the client did not advertise session.notices, and the error is an
// *acp.CapabilityError; send an important text as a message in this case.
func (s *Session) SendNotice(ctx context.Context, severity acp.NoticeSeverity, title, description string) error {
	return s.Update(ctx, &acp.Notice{Severity: severity, Title: title, Description: description})
}

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

// SendPlan sends the complete plan, which replaces the previous one.
func (s *Session) SendPlan(ctx context.Context, entries ...acp.PlanEntry) error {
	return s.Update(ctx, &acp.Plan{Entries: entries})
}

// SetMode reports the new current mode of the session.
func (s *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	return s.Update(ctx, &acp.CurrentModeUpdate{CurrentModeID: id})
}
