package acp

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/acpkit/go-sdk/rpcerr"
)

// ToolFailure is an error that determines the last update of a failed tool call. The method
// Fail of agent.ToolCall searches the error chain for it; package rpcerr/toolerr provides
// an implementation. Implement it to give the client and the model more than a message,
// such as whether a retry may succeed, or what to change.
type ToolFailure interface {
	error
	// FailedToolCall returns the last update of the call, usually with Content for people
	// and RawOutput for programs. The caller sets ToolCallID and Status. The peer receives
	// the whole update. Nil means that the error does not determine the update.
	FailedToolCall() *ToolCallUpdate
}

// FailToolCall returns the update that ends the tool call id with err.
//
// The outermost error in the chain that is meant for the peer determines the update. A
// [ToolFailure] returns it. An *rpcerr.RequestError, or an error that builds one, provides
// its code, message and data; the text includes data.recovery.hint. The peer never receives
// what such an error wraps. Without such an error, and for a nil err, the text of the update
// is "Internal error".
func FailToolCall(id ToolCallID, err error) *ToolCallUpdate {
	update := failedBy(err)
	update.ToolCallID = id
	update.Status = ToolCallStatusFailed
	return update
}

// failedBy returns an update that the caller may change.
func failedBy(err error) *ToolCallUpdate {
	if u, _ := ownUpdate(err); u != nil {
		c := *u // the error may hand out the same update twice
		return &c
	}
	e := rpcerr.InternalError(nil)
	errors.As(rpcerr.From(err), &e)
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

// ownUpdate returns the update of the outermost ToolFailure in the chain. It stops at an error of
// the protocol, whose causes must not leave the process, and skips nil pointers, whose methods may
// panic.
func ownUpdate(err error) (u *ToolCallUpdate, stop bool) {
	if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, false
	}
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
