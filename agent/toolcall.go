// Copied to agent/v2 by go generate.

package agent

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

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
