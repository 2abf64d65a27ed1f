package kind

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
)

// The members of the error's data that hold the record. Whatever
// else stands there is Data.
const (
	memberKind       = "kind"
	memberCode       = "code"
	memberReason     = "reason"
	memberRetryable  = "retryable"
	memberRetryAfter = "retryAfterMs"
	memberRecovery   = "recovery" // {"hint": "..."}
	memberStatus     = "status"
	memberData       = "data" // what of Data has no place beside the others
)

var reserved = []string{
	memberKind, memberCode, memberReason, memberRetryable, memberRetryAfter, memberRecovery, memberStatus, memberData,
}

type recovery struct {
	Hint string `json:"hint"`
}

// RequestError returns the error's wire form. The code is the kind's (or
// Number), the message is Message, and the data is an object with
//
//	kind          the kind
//	retryable     whether trying again may help
//	retryAfterMs  how long to wait first, in milliseconds
//	code, reason, status
//	recovery      {"hint": "..."}
//
// without empty members, and with the members of Data. An internal error without further
// facts has no data. Debug, Attrs and the cause are not encoded; the cause stays reachable
// by Unwrap.
//
// An error of kind [ContextRequired] without a hint is bad use, because the receiver would
// not know what to ask: until it has one, errors.Is finds [ErrBadUse] in it and not its kind,
// and its wire form is that of an internal error. An error that a peer sent stays unchanged.
func (e *Error) RequestError() *rpcerr.RequestError {
	if e == nil {
		return nil
	}
	e = e.fit()
	r := rpcerr.New(e.wireCode(), e.Error(), nil)
	if !e.bare() {
		r.Data = json.RawMessage(e.data())
	}
	return r.WithCause(e)
}

// wireCode returns the code under which e travels.
func (e *Error) wireCode() rpcerr.Code {
	if e.Number != 0 {
		return e.Number
	}
	return e.Kind.Code()
}

// bare reports whether the code and the fixed message say it all, as for an error that was
// not written for the peer.
func (e *Error) bare() bool {
	return e.Kind == Internal && e.Error() == Internal.Message() && !e.Retryable && e.RetryAfter == 0 && !e.NoDelay &&
		e.Code == "" && e.Reason == "" && e.Hint == "" && e.Status == 0 && e.Number == 0 && nothing(e.Data)
}

func (e *Error) data() []byte {
	members, rest := spread(e.Data)
	put := func(name string, v any) {
		raw, err := json.Marshal(v)
		if err == nil { // strings, numbers and booleans always can be encoded
			members[name] = raw
		}
	}
	if len(rest) > 0 {
		members[memberData] = rest
	}
	k := e.Kind
	if !k.Known() {
		k = Unknown
	}
	put(memberKind, k)
	put(memberRetryable, e.Retryable)
	if e.RetryAfter > 0 || e.NoDelay {
		put(memberRetryAfter, ceilMillis(e.RetryAfter).Milliseconds())
	}
	if e.Code != "" {
		put(memberCode, e.Code)
	}
	if e.Reason != "" {
		put(memberReason, e.Reason)
	}
	if e.Status != 0 {
		put(memberStatus, e.Status)
	}
	if e.Hint != "" {
		put(memberRecovery, recovery{e.Hint})
	}
	out, err := json.Marshal(members)
	if err != nil { // only a Data that was assigned by hand, and is not JSON, gets here
		c := *e
		c.Data = nil
		return c.data()
	}
	return out
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
	var covered map[string]json.RawMessage
	for _, name := range reserved {
		if v, ok := beside[name]; ok {
			if covered == nil {
				covered = map[string]json.RawMessage{}
			}
			covered[name] = v
			delete(beside, name)
		}
	}
	if covered != nil {
		rest, _ = json.Marshal(covered) // raw values that were just read
	}
	return beside, rest
}

// FromRequestError returns the record of an error that a peer sent. If the peer built it
// from an Error, the result equals that Error; for an error of another program it holds
// what that error contains. Members with another meaning than in this package stay in Data.
// Without a known kind, the code determines the kind; a code that no kind has is kept in
// Number. The result wraps r's cause, if any.
func FromRequestError(r *rpcerr.RequestError) *Error {
	if r == nil {
		return nil
	}
	e := &Error{Kind: FromCode(r.Code), Message: r.Message, cause: r.Unwrap()}
	members, rest := object(r)
	take(members, memberKind, func(k Kind) bool {
		if k.Known() {
			e.Kind = k
		}
		return k.Known()
	})
	if e.Kind.Code() != r.Code {
		e.Number = r.Code
	}
	e.Retryable = e.Kind.Retryable()
	take(members, memberRetryAfter, func(ms float64) bool {
		if ms < 0 {
			return false
		}
		e.RetryAfter, e.NoDelay, e.Retryable = millis(ms), ms == 0, true // a time to wait implies it, unless the next member denies it
		return true
	})
	take(members, memberRetryable, func(yes bool) bool { e.Retryable = yes; return true })
	take(members, memberCode, func(s string) bool { e.Code = s; return s != "" })
	take(members, memberReason, func(s string) bool { e.Reason = s; return s != "" })
	take(members, memberStatus, func(n int) bool {
		if n < 100 || n > 599 {
			return false
		}
		e.Status = n
		return true
	})
	take(members, memberRecovery, func(m map[string]json.RawMessage) bool {
		if json.Unmarshal(m["hint"], &e.Hint) != nil {
			return false
		}
		if delete(m, "hint"); len(m) > 0 { // more than a hint: keep it
			members[memberRecovery], _ = json.Marshal(m)
		}
		return len(m) == 0
	})
	e.Data = gather(members, rest)
	if e.Kind == ContextRequired && strings.TrimSpace(e.Hint) == "" {
		e.Number = r.Code // it passes through unchanged
	}
	return e
}

// object takes r's data apart. What is no object comes back as rest.
func object(r *rpcerr.RequestError) (members map[string]json.RawMessage, rest json.RawMessage) {
	var raw json.RawMessage
	if r.DecodeData(&raw) != nil || json.Unmarshal(raw, &members) != nil {
		return nil, raw
	}
	return members, nil
}

// take removes a member when it has the type and use agrees.
func take[T any](members map[string]json.RawMessage, name string, use func(T) bool) {
	var v *T
	if raw, ok := members[name]; !ok || json.Unmarshal(raw, &v) != nil || v == nil {
		return
	}
	if use(*v) {
		delete(members, name)
	}
}

// gather undoes spread, and leaves alone what spread does not write.
func gather(members map[string]json.RawMessage, rest json.RawMessage) json.RawMessage {
	if inner, ok := members[memberData]; ok {
		var covered map[string]json.RawMessage
		isObject := json.Unmarshal(inner, &covered) == nil
		switch {
		case len(covered) > 0 && onlyReserved(covered) && !otherReserved(members):
			delete(members, memberData)
			maps.Copy(members, covered)
		case !isObject && len(members) == 1:
			members, rest = nil, inner
		}
	}
	var raw json.RawMessage
	var err error
	if members != nil {
		raw, err = canonical(members)
	} else if len(rest) > 0 {
		raw, err = canonical(rest)
	}
	if err != nil || nothing(raw) {
		return nil
	}
	return raw
}

func onlyReserved(members map[string]json.RawMessage) bool {
	for name := range members {
		if !slices.Contains(reserved, name) {
			return false
		}
	}
	return true
}

// otherReserved reports whether a member has the name of a fact that it does not state: an
// Error would have put it aside.
func otherReserved(members map[string]json.RawMessage) bool {
	for _, name := range reserved {
		if _, ok := members[name]; ok && name != memberData {
			return true
		}
	}
	return false
}

func millis(ms float64) time.Duration {
	if ms >= math.MaxInt64/float64(time.Millisecond) {
		return time.Duration(math.MaxInt64).Truncate(time.Millisecond)
	}
	return ceilMillis(time.Duration(math.Ceil(ms)) * time.Millisecond)
}

// MarshalJSON writes the error object of JSON-RPC, as [Error.RequestError]
// builds it, so that errors can be stored.
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
