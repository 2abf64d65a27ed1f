package acp

import (
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/rpcerr"
)

// ToolFailure is an error that knows how to end a tool call. The agent's session
// helper looks for it, through any wrapping, when a tool call fails; package
// rpcerr/toolerr has a ready one. Implement it to tell client and model more than
// a message: that trying again may help, what to change, whom to ask.
type ToolFailure interface {
	error
	// FailedToolCall returns the last update of the call, usually with Content
	// for people and RawOutput for programs. ToolCallID and Status are filled in
	// by the caller. All of it reaches the peer.
	FailedToolCall() *ToolCallUpdate
}

// FailToolCall returns the update that ends the tool call id with err.
//
// A [ToolFailure] in the chain of err says what the update holds. Of every other
// error the update tells what a failed request would: code, message and data of an
// *rpcerr.RequestError in the chain, and only "Internal error" for an error that
// nobody meant for the peer. A nil err counts as such.
func FailToolCall(id ToolCallID, err error) *ToolCallUpdate {
	update := &ToolCallUpdate{}
	if failure, ok := errors.AsType[ToolFailure](err); ok {
		if u := failure.FailedToolCall(); u != nil {
			c := *u // the error may hand out the same update twice
			update = &c
		}
	} else {
		update.Content, update.RawOutput = failureOf(err)
	}
	update.ToolCallID = id
	update.Status = ToolCallStatusFailed
	return update
}

func failureOf(err error) ([]ToolCallContent, json.RawMessage) {
	e := rpcerr.From(err)
	if e == nil {
		e = rpcerr.InternalError(nil)
	}
	raw, err := json.Marshal(e.ToErrorResponse())
	if err != nil { // data that cannot be written must not hide the code
		raw, _ = json.Marshal(e.WithData(nil).ToErrorResponse())
	}
	return []ToolCallContent{ToolText(e.Message)}, raw
}
