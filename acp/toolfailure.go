package acp

import (
	"encoding/json"

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
	// by the caller. All of it reaches the peer. Nil means that the error has nothing
	// of its own to say.
	FailedToolCall() *ToolCallUpdate
}

// FailToolCall returns the update that ends the tool call id with err.
//
// The outermost error in the chain that was meant for the peer says what the update
// holds: a [ToolFailure] whatever it likes, an *rpcerr.RequestError, or an error that
// builds one, its code, message and data, with data.recovery.hint in the text too. What
// such an error wraps stays inside, as it does when a request fails. For an error that
// nobody meant for the peer the update tells only "Internal error". A nil err counts as
// such.
func FailToolCall(id ToolCallID, err error) *ToolCallUpdate {
	update := failedBy(err)
	update.ToolCallID = id
	update.Status = ToolCallStatusFailed
	return update
}

// failedBy returns an update that nobody else holds.
func failedBy(err error) *ToolCallUpdate {
	if u, _ := ownUpdate(err); u != nil {
		c := *u // the error may hand out the same update twice
		return &c
	}
	e := rpcerr.From(err)
	if e == nil {
		e = rpcerr.InternalError(nil)
	}
	out := e.ToErrorResponse()
	raw, err := json.Marshal(out)
	if err != nil { // data that cannot be written must not hide the code
		out.Data = nil
		raw, _ = json.Marshal(out)
	}
	text := out.Message
	var data struct {
		Recovery struct {
			Hint string `json:"hint"`
		} `json:"recovery"`
	}
	if e.DecodeData(&data) == nil && data.Recovery.Hint != "" { // models may see the text alone
		text += "\nRecovery: " + data.Recovery.Hint
	}
	return &ToolCallUpdate{Content: []ToolCallContent{ToolText(text)}, RawOutput: raw}
}

// ownUpdate returns the update of the outermost ToolFailure in the chain. It stops at
// an error of the protocol: what that wraps is a cause and stays in the process.
func ownUpdate(err error) (u *ToolCallUpdate, stop bool) {
	if failure, ok := err.(ToolFailure); ok {
		if u := failure.FailedToolCall(); u != nil {
			return u, true
		}
	}
	if own, ok := err.(interface{ RequestError() *rpcerr.RequestError }); ok && own.RequestError() != nil {
		return nil, true
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return ownUpdate(w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range w.Unwrap() {
			if u, stop := ownUpdate(err); stop {
				return u, true
			}
		}
	}
	return nil, false
}
