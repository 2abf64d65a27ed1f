package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

// Session has short methods for the messages of one session. It holds no state, so a
// Session can be created wherever it is needed. All methods are safe for concurrent use.
// Messages that one goroutine sends arrive in the order in which it sent them.
//
// The methods that send an update return when the update is queued for sending, and also send
// if ctx is done, so that the last updates of cancelled work reach the client. The methods that
// send a request return if ctx is done.
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
	return s.conn.SessionUpdate(context.WithoutCancel(ctx), &acp.UpdateSessionNotification{SessionID: s.id, Update: u})
}

// SetCommands sends the complete list of slash commands, which replaces the previous one.
func (s *Session) SetCommands(ctx context.Context, commands ...acp.AvailableCommand) error {
	return s.Update(ctx, &acp.AvailableCommandsUpdate{AvailableCommands: commands})
}

// SetConfigOptions sends the complete list of options, which replaces the previous one.
func (s *Session) SetConfigOptions(ctx context.Context, options ...acp.SessionConfigOption) error {
	return s.Update(ctx, &acp.ConfigOptionUpdate{ConfigOptions: options})
}

// SetTitle reports the new title of the session. The empty string clears the title.
func (s *Session) SetTitle(ctx context.Context, title string) error {
	if title == "" {
		return s.SendInfo(ctx, &acp.SessionInfoUpdate{Title: acp.Null[string]()})
	}
	return s.SendInfo(ctx, &acp.SessionInfoUpdate{Title: acp.Some(title)})
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

// SendNotice shows the user a text that is not part of the conversation.
func (s *Session) SendNotice(ctx context.Context, severity acp.NoticeSeverity, title, description string) error {
	return s.Update(ctx, &acp.Notice{Severity: severity, Title: title, Description: description})
}

// ToolCall reports the progress of one tool call of a session. Like [Session], it holds
// no state, and it also sends if ctx is done.
type ToolCall struct {
	session *Session
	id      acp.ToolCallID
}

// ToolCall returns a ToolCall for a tool call that has already been announced.
func (s *Session) ToolCall(id acp.ToolCallID) *ToolCall { return &ToolCall{s, id} }

// ID returns the id of the tool call.
func (t *ToolCall) ID() acp.ToolCallID { return t.id }

// Update changes the tool call. Absent members keep their value; a list replaces the
// previous list. Update fills in the id.
func (t *ToolCall) Update(ctx context.Context, u *acp.ToolCallUpdate) error {
	c := endpoint.ValueOf(u)
	c.ToolCallID = t.id
	return t.session.Update(ctx, &c)
}

// Progress reports that the tool call is in progress. The content, if there is any,
// replaces the previous content.
func (t *ToolCall) Progress(ctx context.Context, content ...acp.ToolCallContent) error {
	return t.status(ctx, acp.ToolCallStatusInProgress, content)
}

// Finish reports that the tool call has succeeded. The content, if there is any, replaces
// the previous content.
func (t *ToolCall) Finish(ctx context.Context, content ...acp.ToolCallContent) error {
	return t.status(ctx, acp.ToolCallStatusCompleted, content)
}

func (t *ToolCall) status(ctx context.Context, status acp.ToolCallStatus, content []acp.ToolCallContent) error {
	u := &acp.ToolCallUpdate{Status: acp.Some(status)}
	if len(content) > 0 {
		u.Content = acp.Some(content)
	}
	return t.Update(ctx, u)
}

// Fail reports that the tool call has failed with err, which Options.OnError may replace.
// [acp.FailToolCall] decides what the client and the model read: the update of an
// [acp.ToolFailure], the message, code and data of an *rpcerr.RequestError, and only "Internal
// error" of any other error. What is not sent is logged. If the update of an acp.ToolFailure is
// invalid, the client reads "Internal error", and Fail returns what is wrong.
func (t *ToolCall) Fail(ctx context.Context, err error) error {
	var update *acp.ToolCallUpdate
	fault := t.session.conn.engine.Leave(ctx, "tool call "+string(t.id), err, func(err error) { update = t.failed(ctx, err) })
	if fault != nil {
		update = acp.FailToolCall(t.id, fault)
	}
	err = t.session.Update(ctx, update)
	if _, invalid := errors.AsType[*acp.InvalidError](err); invalid { // that of an acp.ToolFailure
		return errors.Join(err, t.session.Update(ctx, acp.FailToolCall(t.id, nil)))
	}
	return err
}

// failed returns the update of a tool call that failed with err, and logs what it hides.
func (t *ToolCall) failed(ctx context.Context, err error) *acp.ToolCallUpdate {
	engine := &t.session.conn.engine
	errorID, details, told := serving.FailedCall(ctx, engine, string(t.id), err, func(err error) (ok, complete bool, wrapped error) {
		own, ok := errors.AsType[acp.ToolFailure](err)
		if ok {
			wrapped, complete = errors.Unwrap(own), own.FailedToolCall() != nil
		}
		return ok, complete, wrapped
	})
	u := acp.FailToolCall(t.id, told)
	if details != "" { // for development
		content, _ := u.Content.Get()
		u.Content = acp.Some(append(slices.Clip(content), acp.ToolText("Details: "+details)))
	}
	u.RawOutput = rpc.Annotate(u.RawOutput, errorID, details)
	return u
}
