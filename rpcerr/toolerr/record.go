package toolerr

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// kindOf is the kind of each category, and thereby its code on the wire.
var kindOf = map[Category]kind.Kind{
	CategoryAuth:       kind.Unauthorized,
	CategoryRateLimit:  kind.RateLimited,
	CategoryNotFound:   kind.NotFound,
	CategoryValidation: kind.Validation,
	CategoryInternal:   kind.Internal,
	CategoryTimeout:    kind.Timeout,
}

// categories is the other way round. Several kinds share a category; the finer one
// is kept beside it.
var categories = map[kind.Kind]Category{
	kind.Unauthorized:         CategoryAuth,
	kind.Forbidden:            CategoryAuth,
	kind.RateLimited:          CategoryRateLimit,
	kind.NotFound:             CategoryNotFound,
	kind.MethodNotFound:       CategoryNotFound,
	kind.Validation:           CategoryValidation,
	kind.ParseError:           CategoryValidation,
	kind.InvalidRequest:       CategoryValidation,
	kind.InvalidParams:        CategoryValidation,
	kind.Conflict:             CategoryValidation,
	kind.ContextRequired:      CategoryValidation,
	kind.ContextTooLarge:      CategoryValidation,
	kind.UnsupportedVersion:   CategoryValidation,
	kind.Timeout:              CategoryTimeout,
	kind.Cancelled:            CategoryTimeout,
	kind.Internal:             CategoryInternal,
	kind.ServiceUnavailable:   CategoryInternal,
	kind.MCPUnavailable:       CategoryInternal,
	kind.Configuration:        CategoryInternal,
	kind.InitializationFailed: CategoryInternal,
	kind.Database:             CategoryInternal,
	kind.Serialization:        CategoryInternal,
	kind.Transient:            CategoryInternal,
	kind.Fatal:                CategoryInternal,
	kind.Unknown:              "",
}

// defaultCodes stand in where a record has no code.
var defaultCodes = map[Category]string{
	CategoryAuth:       "AUTH_ERROR",
	CategoryRateLimit:  "RATE_LIMITED",
	CategoryNotFound:   "NOT_FOUND",
	CategoryValidation: "VALIDATION_ERROR",
	CategoryInternal:   "INTERNAL_ERROR",
	CategoryTimeout:    "TIMEOUT",
	"":                 "UNKNOWN_ERROR",
}

// Record returns the same failure as the record that all packages share.
func (e *Error) Record() *kind.Error {
	if e == nil {
		return nil
	}
	if e.refused != nil {
		return e.refused
	}
	k := e.kind
	if k == "" || categories[k] != e.Category { // the caller has changed Category since
		if k = kindOf[e.Category]; k == "" {
			k = kind.Unknown
		}
	}
	r := &kind.Error{
		Kind: k, Message: e.Message, Code: e.Code, Reason: e.Reason, Retryable: e.Retryable,
		RetryAfter: e.RetryAfter, NoDelay: e.NoDelay, Hint: e.Hint, Status: e.Status, Number: e.number, Data: e.Data,
	}
	switch {
	case k != kind.Unauthorized:
	case e.number == 0: // the code does not require that the user logs in
		r.Number = kind.CodeUnauthorized
	case e.number == k.Code():
		r.Number = 0
	}
	if e.cause != nil {
		r = r.WithCause(e.cause)
	}
	if e.derived {
		r = r.WithDerived()
	}
	return r
}

// RequestError returns the wire form: that of the record.
func (e *Error) RequestError() *rpcerr.RequestError {
	if e == nil {
		return nil
	}
	r := e.Record()
	if r.Mistake() != nil {
		return r.RequestError() // its cause names the mistake
	}
	return r.RequestError().WithCause(e)
}

// FromRecord returns the record as a tool's failure. Nothing of it is lost but
// Debug and Attrs, which stay reachable through the cause. A record without a
// code gets the one that the factory of its category sets.
func FromRecord(r *kind.Error) *Error {
	if r == nil {
		return nil
	}
	category := categories[r.Kind]
	e := &Error{
		Code: r.Code, Category: category, Message: r.Error(), Retryable: r.Retryable, RetryAfter: r.RetryAfter, NoDelay: r.NoDelay,
		Reason: r.Reason, Hint: r.Hint, Status: r.Status, Data: r.Data, number: r.Number, cause: r.Unwrap(), derived: r.Derived(),
	}
	switch {
	case r.Kind != kind.Unauthorized:
	case r.Number == 0:
		e.number = r.Kind.Code() // it does ask the user to log in
	case r.Number == kind.CodeUnauthorized:
		e.number = 0
	}
	if kindOf[category] != r.Kind && r.Kind != kind.Unknown {
		e.kind = r.Kind
	}
	if e.Code == "" {
		e.Code = defaultCodes[category]
	}
	if r.Debug != "" || r.Attrs != nil || r.Logged() || r.Mistake() != nil {
		e.cause = r
	}
	return e
}

// MarshalJSON writes the error object of JSON-RPC, so that errors can be stored.
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

// FromRequestError returns the failure that a peer sent. If the peer built it from an
// Error, the result equals that Error; for an error of another program it holds what that
// error contains.
func FromRequestError(r *rpcerr.RequestError) *Error { return FromRecord(kind.FromRequestError(r)) }

// From returns the failure that err carries, in whichever form. It reports false
// when err carries none.
func From(err error) (*Error, bool) {
	r, ok := kind.From(err)
	if !ok {
		return nil, false
	}
	return FromRecord(r), true
}

// FailedToolCall implements [acp.ToolFailure]: the method Fail of agent.ToolCall ends the
// tool call with [Error.Text] as content, a hint below the message, and with the record as
// raw output.
func (e *Error) FailedToolCall() *acp.ToolCallUpdate {
	if e == nil {
		return nil
	}
	r := e.Record()
	if r.Mistake() != nil {
		return r.FailedToolCall()
	}
	text := e
	if e.Hint != "" { // a model may see the text alone
		c := *e
		c.Message += "\nRecovery: " + e.Hint
		text = &c
	}
	return kind.FailedToolCall(text.Text(), r)
}

// FromToolCall returns the failure of a tool call that ended with one. It reports false if
// the call did not fail, or if its raw output is not such a record.
func FromToolCall(u *acp.ToolCallUpdate) (*Error, bool) {
	r, ok := kind.FromToolCall(u)
	return FromRecord(r), ok
}
