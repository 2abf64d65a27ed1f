package agent

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// ToolCall reports the course of one tool call of a session. Like [Session] it holds
// no state and still sends when the turn is cancelled.
type ToolCall struct {
	session *Session
	id      acp.ToolCallID
}

// StartToolCall announces a tool call and returns the handle for what follows. An
// empty ToolCallID is replaced by a fresh one, an empty Status by in_progress. The
// call given is not changed or kept.
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
		// Random, because ids live as long as the session, longer than this process.
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

// ToolCall returns the handle of a call that has been announced before.
func (s *Session) ToolCall(id acp.ToolCallID) *ToolCall { return &ToolCall{s, id} }

// ID is the id of the call.
func (t *ToolCall) ID() acp.ToolCallID { return t.id }

// Update patches the call: what u leaves out stays as it is, lists replace the ones
// sent before. The id is filled in.
func (t *ToolCall) Update(ctx context.Context, u *acp.ToolCallUpdate) error {
	if u == nil {
		u = &acp.ToolCallUpdate{}
	}
	c := *u
	c.ToolCallID = t.id
	return t.session.Update(ctx, &c)
}

// Progress says that the call is being worked on. Content replaces what was shown
// before; none leaves it.
func (t *ToolCall) Progress(ctx context.Context, content ...acp.ToolCallContent) error {
	return t.Update(ctx, &acp.ToolCallUpdate{Status: acp.ToolCallStatusInProgress, Content: content})
}

// Finish says that the call has succeeded. Content replaces what was shown before;
// none leaves it.
func (t *ToolCall) Finish(ctx context.Context, content ...acp.ToolCallContent) error {
	return t.Update(ctx, &acp.ToolCallUpdate{Status: acp.ToolCallStatusCompleted, Content: content})
}

// Fail says that the call has failed with err. What client and model are told is
// decided by [acp.FailToolCall]: an [acp.ToolFailure] tells all it knows, an
// *rpcerr.RequestError its message, code and data, and any other error nothing but
// "Internal error"; the log gets its text. Package rpcerr/classify makes more of errors
// of the Go libraries.
func (t *ToolCall) Fail(ctx context.Context, err error) error {
	_, meant := rpcerr.CodeOf(err)
	if _, own := errors.AsType[acp.ToolFailure](err); meant || !own {
		rpc.LogFailure(t.session.conn.log, err, "acp: a tool call failed", "toolCallId", string(t.id))
	}
	return t.session.Update(ctx, acp.FailToolCall(t.id, err))
}

// AskPermission asks whether this call may go on; see [Session.AskPermission].
func (t *ToolCall) AskPermission(ctx context.Context, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	return t.session.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: t.id}, options...)
}
