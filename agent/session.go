// Copied to draft2/agent by go generate.

package agent

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
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
	return s.conn.SessionUpdate(context.WithoutCancel(ctx), &updateNotification{SessionID: s.id, Update: u})
}

// Commands sends the complete list of slash commands, which replaces the previous one.
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

// Notice shows the user a text that is not part of the conversation. In version 1, nothing
// is sent if the client did not advertise session.notices, and the error is an
// *acp.CapabilityError; send an important text as a message in this case.
func (s *Session) Notice(ctx context.Context, severity acp.NoticeSeverity, title, description string) error {
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
	if u == nil {
		u = &acp.ToolCallUpdate{}
	}
	c := *u
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

// Fail reports that the tool call has failed with err. It first calls Options.OnError with
// err. The function [acp.FailToolCall] decides what the client and the model read: the
// complete update of an [acp.ToolFailure]; the message, code and data of an
// *rpcerr.RequestError; and only "Internal error" of any other error. Details that are not
// sent are logged. If the update of an acp.ToolFailure is invalid, the client reads
// "Internal error", and Fail returns what is wrong. The function OnError of rpcerr/classify
// returns a function for Options.OnError that classifies the errors of other packages, so
// that more can be sent.
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
	const msg = "acp: a tool call failed"
	_, meant := rpcerr.CodeOf(err)
	details, errorID := engine.Details(err), ""
	if own, ok := errors.AsType[acp.ToolFailure](err); ok && !meant && own.FailedToolCall() != nil {
		engine.LogKept(err, errors.Unwrap(own), msg, "toolCallId", string(t.id))
	} else {
		var fault *rpcerr.RequestError
		fault, errorID = engine.Fault(ctx, err, msg, "toolCallId", string(t.id))
		if !ok {
			err = fault
		}
	}
	update := acp.FailToolCall(t.id, err)
	if details != "" { // for development
		addContent(update, acp.ToolText("Details: "+details))
	}
	update.RawOutput = rpc.Annotate(update.RawOutput, errorID, details)
	return update
}
