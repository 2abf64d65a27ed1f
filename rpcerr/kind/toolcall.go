package kind

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// FailedToolCall implements [acp.ToolFailure]: the method Fail of agent.ToolCall ends the
// tool call with the message and the hint as text, for people and models, and with the
// error object of the wire as raw output, for programs.
func (e *Error) FailedToolCall() *acp.ToolCallUpdate {
	if e == nil {
		return nil
	}
	if use := e.incomplete(); use != nil {
		e = use
	}
	text := "Error: " + e.Error()
	if e.Hint != "" {
		text += "\nRecovery: " + e.Hint
	}
	return FailedToolCall(text, e)
}

// FailedToolCall returns the update that ends a tool call with text for people and
// the record as raw output. It is for packages that have a text form of their own.
func FailedToolCall(text string, e *Error) *acp.ToolCallUpdate {
	update := &acp.ToolCallUpdate{
		Status:  acp.ToolCallStatusFailed,
		Content: []acp.ToolCallContent{acp.ToolText(text)},
	}
	if raw, err := json.Marshal(e); err == nil { // it never fails: bad data is left out
		update.RawOutput = raw
	}
	return update
}

// FromToolCall returns the record in the raw output of a tool call that failed. It reports
// false if the call did not fail, or if its raw output is not such a record.
func FromToolCall(u *acp.ToolCallUpdate) (*Error, bool) {
	if u == nil || u.Status != acp.ToolCallStatusFailed {
		return nil, false
	}
	return FromRawOutput(u.RawOutput)
}

// FromRawOutput is [FromToolCall] for the raw output alone, of a failed tool call of any
// version of the protocol.
func FromRawOutput(raw json.RawMessage) (*Error, bool) {
	var r rpcerr.RequestError
	if json.Unmarshal(raw, &r) != nil {
		return nil, false
	}
	return FromRequestError(&r), true
}
