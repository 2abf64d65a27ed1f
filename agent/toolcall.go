package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

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
	return t.Update(ctx, &acp.ToolCallUpdate{Status: status, Content: content})
}

// Fail reports that the tool call has failed with err, by the update that [Session.FailedCall]
// returns. If the update of an [acp.ToolFailure] is invalid, the client reads "Internal error", and
// Fail returns what is wrong.
func (t *ToolCall) Fail(ctx context.Context, err error) error {
	err = t.session.Update(ctx, t.session.FailedCall(ctx, t.id, err))
	if _, invalid := errors.AsType[*acp.InvalidError](err); invalid { // that of an acp.ToolFailure
		return errors.Join(err, t.session.Update(ctx, acp.FailToolCall(t.id, nil)))
	}
	return err
}

// FailedCall returns the last update of a tool call that failed with err. It first calls
// Options.OnError with err. The function [acp.FailToolCall] decides what the client and the model
// read: the complete update of an [acp.ToolFailure]; the message, code and data of an
// *rpcerr.RequestError; and only "Internal error" of any other error, with an id in data.errorId.
// Details that are not sent are logged. The function OnError of rpcerr/classify returns a function
// for Options.OnError that classifies the errors of other packages, so that more can be sent.
//
// A method of err may panic: the client then reads "Internal error".
func (s *Session) FailedCall(ctx context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate {
	var update *acp.ToolCallUpdate
	fault := s.conn.engine.Leave(ctx, "tool call "+string(id), err, func(err error) { update = s.failed(ctx, id, err) })
	if fault != nil {
		update = acp.FailToolCall(id, fault)
	}
	return update
}

// failed returns the update of a tool call that failed with err, and logs what it hides.
func (s *Session) failed(ctx context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate {
	errorID, details, told := serving.FailedCall(ctx, &s.conn.engine, string(id), err, func(err error) (ok, complete bool, wrapped error) {
		own, ok := errors.AsType[acp.ToolFailure](err)
		if !ok {
			return false, false, nil
		}
		return true, own.FailedToolCall() != nil, errors.Unwrap(own)
	})
	update := acp.FailToolCall(id, told)
	if details != "" { // for development
		update.Content = append(slices.Clip(update.Content), acp.ToolText("Details: "+details))
	}
	update.RawOutput = rpc.Annotate(update.RawOutput, errorID, details)
	return update
}
