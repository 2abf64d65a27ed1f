package kind

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
)

// FailedToolCall implements [acp.ToolFailure]: the tool call ends with the message and the hint
// as text, and with the error object of the wire as raw output. For an error with a Code,
// which models compare, the text is that of [Error.Text] with the hint below the message.
func (e *Error) FailedToolCall() *acp.ToolCallUpdate {
	if e == nil {
		return nil
	}
	e = e.fit()
	text := e.Error()
	if e.Hint != "" {
		text += "\nRecovery: " + e.Hint
	}
	if e.Code == "" {
		text = "Error: " + text
	} else {
		text = e.text(text)
	}
	update := &acp.ToolCallUpdate{
		Status:  acp.ToolCallStatusFailed,
		Content: []acp.ToolCallContent{acp.ToolText(text)},
	}
	if raw, err := json.Marshal(e); err == nil { // it never fails: bad data is left out
		update.RawOutput = raw
	}
	return update
}

// Text returns the form of package toolerr, which models know: one line for people, then the
// same facts as JSON in a fence.
//
//	[ERROR code=RATE_LIMITED category=rate_limit retryable=true retryAfterMs=2000] Too many requests
//
//	```json
//	{"code":"RATE_LIMITED","category":"rate_limit","retryable":true,"retryAfterMs":2000}
//	```
//
// An error without a Code gets that of its category. Reason, Hint, Status, Data and the exact
// kind are left out.
func (e *Error) Text() string {
	if e == nil {
		return ""
	}
	e = e.fit()
	return e.text(e.Error())
}

func (e *Error) text(message string) string {
	category := inside.Category(string(e.Kind))
	t := inside.ToolText{Code: clean(e.Code), Category: category, Retryable: e.Retryable}
	if t.Code == "" {
		t.Code = inside.DefaultCode(category)
	}
	if e.RetryAfter > 0 || e.NoDelay {
		t.RetryAfterMs = new(ceilMillis(e.RetryAfter).Milliseconds())
	}
	return t.String(clean(message))
}

// FromToolCall returns the record in the raw output of a failed tool call, if there is one.
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
