package kind

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// reserved are the members of the error's data that hold the record. All others are Data. The
// member data has the members of Data whose names are reserved.
var reserved = []string{"kind", "code", "reason", "retryable", "retryAfterMs", "recovery", "status", "data"}

// RequestError returns the error's wire form. The code is the kind's (or Number), the message
// is Message, and the data is an object with the members kind, retryable, retryAfterMs, code,
// reason, status, recovery ({"hint": "..."}) and those of Data, without empty ones. An
// internal error without further facts has no data.
//
// An error of kind [ContextRequired] without a hint is bad use, because the receiver would
// not know what to ask: until it has one, errors.Is finds [ErrBadUse] in it and not its kind,
// and its wire form is that of an internal error. An error that a peer sent stays unchanged.
func (e *Error) RequestError() *rpcerr.RequestError {
	if e == nil {
		return nil
	}
	e = e.fit()
	r := rpcerr.New(cmp.Or(e.Number, e.Kind.Code()), e.Error(), nil)
	data := e.data()
	if r.Code != rpcerr.CodeInternalError || r.Message != Internal.Message() || data != `{"kind":"internal","retryable":false}` {
		r.Data = json.RawMessage(data) // the code and the fixed text are not sufficient
	}
	return r.WithCause(e)
}

// data returns the facts and the members of Data as one object.
func (e *Error) data() string {
	members, rest := spread(e.Data)
	put := func(name string, v any, present bool) {
		if raw, err := json.Marshal(v); present && err == nil { // it fails only for a Data that was assigned by hand
			members[name] = raw
		}
	}
	put("data", rest, len(rest) > 0)
	put("kind", e.Kind.facts().kind, true)
	put("retryable", e.Retryable, true)
	put("retryAfterMs", ceilMillis(e.RetryAfter).Milliseconds(), e.RetryAfter > 0 || e.NoDelay)
	put("code", e.Code, e.Code != "")
	put("reason", e.Reason, e.Reason != "")
	put("status", e.Status, e.Status != 0)
	put("recovery", map[string]string{"hint": e.Hint}, e.Hint != "")
	out, _ := json.Marshal(members) // values that were just encoded
	return string(out)
}

// spread splits Data into members that may stand beside the record's own and
// the rest: members with reserved names, or a value that is no object.
func spread(data json.RawMessage) (beside map[string]json.RawMessage, rest json.RawMessage) {
	if nothing(data) {
		return map[string]json.RawMessage{}, nil
	}
	if json.Unmarshal(data, &beside) != nil {
		return map[string]json.RawMessage{}, data
	}
	covered := map[string]json.RawMessage{}
	for _, name := range reserved {
		if v, ok := beside[name]; ok {
			covered[name] = v
			delete(beside, name)
		}
	}
	if len(covered) > 0 {
		rest, _ = json.Marshal(covered) // raw values that were just read
	}
	return beside, rest
}

// From returns the record that err carries: an [Error] in its chain, a bare [Kind], or what
// an error that a peer sent says. It reports false for nil and for every error that was not
// written for the wire; package classify makes records of those. An Error is not copied.
func From(err error) (*Error, bool) {
	var e *Error
	r, own := errs.Explicit[rpcerr.RequestError](err, func(err error) bool {
		e, _ = err.(*Error)
		return e != nil
	})
	switch {
	case e != nil:
		return e.fit(), true
	case r == nil:
		return nil, false
	}
	e = FromRequestError(r)
	if own != error(r) {
		err = errs.Both(err, e.cause) // only the wire form may have the cause
	}
	e.cause = err // with the errors that wrap the one that was found
	return e, true
}

// Of returns the kind of err, on either end of a connection, and "" if err carries none.
func Of(err error) Kind {
	if e, ok := From(err); ok {
		return e.Kind
	}
	return ""
}

// FromRequestError returns the record of an error that a peer sent. If the peer built it
// from an Error, the result equals that Error. Members with another meaning than in this
// package stay in Data, and a code that no kind has in Number. The result wraps r's cause.
func FromRequestError(r *rpcerr.RequestError) *Error {
	if r == nil {
		return nil
	}
	e := &Error{Kind: fromCode(r.Code), Message: r.Message, cause: r.Unwrap()}
	members, rest := object(r)
	take(members, "kind", func(k Kind) bool {
		if k.Known() {
			e.Kind = k
		}
		return k.Known()
	})
	if e.Kind.Code() != r.Code {
		e.Number = r.Code
	}
	e.Retryable = e.Kind.Retryable()
	take(members, "retryAfterMs", func(ms float64) bool {
		if ms < 0 {
			return false
		}
		e.RetryAfter, e.NoDelay, e.Retryable = millis(ms), ms == 0, true // a time to wait implies it, unless the next member denies it
		return true
	})
	take(members, "retryable", func(yes bool) bool { e.Retryable = yes; return true })
	take(members, "code", func(s string) bool { e.Code = s; return s != "" })
	take(members, "reason", func(s string) bool { e.Reason = s; return s != "" })
	take(members, "status", func(n int) bool {
		if n < 100 || n > 599 {
			return false
		}
		e.Status = n
		return true
	})
	take(members, "recovery", func(m map[string]json.RawMessage) bool {
		if json.Unmarshal(m["hint"], &e.Hint) != nil {
			return false
		}
		if delete(m, "hint"); len(m) > 0 { // more than a hint: keep it
			members["recovery"], _ = json.Marshal(m)
		}
		return len(m) == 0
	})
	e.Data = gather(members, rest)
	if e.Kind == ContextRequired && strings.TrimSpace(e.Hint) == "" {
		e.Number = r.Code // it passes through unchanged
	}
	return e
}

// object returns the members of r's data. Data that is not an object is returned as rest.
func object(r *rpcerr.RequestError) (members map[string]json.RawMessage, rest json.RawMessage) {
	var raw json.RawMessage
	if r.DecodeData(&raw) != nil || json.Unmarshal(raw, &members) != nil {
		return nil, raw
	}
	return members, nil
}

// take removes a member if it has the type and use accepts it.
func take[T any](members map[string]json.RawMessage, name string, use func(T) bool) {
	var v *T
	if raw, ok := members[name]; !ok || json.Unmarshal(raw, &v) != nil || v == nil {
		return
	}
	if use(*v) {
		delete(members, name)
	}
}

// gather reverses spread. It does not change members that spread does not write.
func gather(members map[string]json.RawMessage, rest json.RawMessage) json.RawMessage {
	if inner, ok := members["data"]; ok {
		var covered map[string]json.RawMessage
		isObject := json.Unmarshal(inner, &covered) == nil
		switch {
		case len(covered) > 0 && countReserved(covered) == len(covered) && countReserved(members) == 1:
			delete(members, "data")
			maps.Copy(members, covered)
		case !isObject && len(members) == 1:
			members, rest = nil, inner
		}
	}
	var all any = rest
	if members != nil {
		all = members
	}
	raw, err := canonical(all)
	if err != nil || nothing(raw) {
		return nil
	}
	return raw
}

// countReserved returns how many members have reserved names.
func countReserved(members map[string]json.RawMessage) (n int) {
	for name := range members {
		if slices.Contains(reserved, name) {
			n++
		}
	}
	return n
}

func millis(ms float64) time.Duration {
	if ms >= math.MaxInt64/float64(time.Millisecond) {
		return time.Duration(math.MaxInt64).Truncate(time.Millisecond)
	}
	return ceilMillis(time.Duration(math.Ceil(ms)) * time.Millisecond)
}

// MarshalJSON writes the error object of JSON-RPC.
func (e Error) MarshalJSON() ([]byte, error) { return json.Marshal(e.RequestError()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Error) UnmarshalJSON(b []byte) error {
	var r rpcerr.RequestError
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	*e = *FromRequestError(&r)
	return nil
}

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
	category := errs.Category(string(e.Kind))
	t := errs.ToolText{Code: clean(e.Code), Category: category, Retryable: e.Retryable}
	if t.Code == "" {
		t.Code = errs.DefaultCode(category)
	}
	if e.RetryAfter > 0 || e.NoDelay {
		t.RetryAfterMs = new(ceilMillis(e.RetryAfter).Milliseconds())
	}
	return t.String(clean(message))
}

// FromToolCall returns the record in the raw output of a failed tool call, if there is one. [rpcerr.FromPeer] reports true for
// it.
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
	e := FromRequestError(&r)
	e.cause = &r // so that rpcerr.FromPeer and Explain know where it is from
	return e, true
}
