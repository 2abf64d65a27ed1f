package acp

import (
	v1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// These types are the same in version 1, in every field and rule, so that programs for both
// versions need not convert them.

// Meta is the `_meta` member of an object; see [v1.Meta].
type Meta = v1.Meta

// Opt is an optional value with three states: absent, null, or a value; see [v1.Opt].
type Opt[T any] = v1.Opt[T]

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return v1.Some(v) }

// Null returns an Opt that is null.
func Null[T any]() Opt[T] { return v1.Null[T]() }

// RequestID is the JSON-RPC id of a request; see [v1.RequestID]. In version 2 it is a
// string or an integer: null and fractions are refused.
type RequestID = v1.RequestID

// NumberID returns an id that is an integer.
func NumberID(n int64) RequestID { return v1.NumberID(n) }

// StringID returns an id that is a string.
func StringID(s string) RequestID { return v1.StringID(s) }

func decodeRequestID(d *wire.Decoder, id *RequestID) *wire.FieldErrors {
	mark := d.Mark()
	var n int64
	if d.Kind() == '"' || d.Kind() == '0' && wire.ReadInt(d, &n) == nil {
		d.Return(mark)
		var raw []byte
		if errs := d.Raw(&raw); errs != nil {
			return errs
		}
		if id.UnmarshalJSON(raw) == nil {
			return nil
		}
	}
	d.Return(mark)
	return d.Mismatch("string or integer")
}

func encodeRequestID(e *wire.Encoder, id *RequestID) {
	raw, err := id.MarshalJSON()
	if err != nil || id.IsZero() || id.IsNull() {
		e.Fail("missing")
		return
	}
	e.RawValue(raw)
}

// The roles, handlers and errors below are those of version 1.

// Handler handles or sends one message; see [v1.Handler].
type Handler = v1.Handler

// Middleware wraps a Handler; see [v1.Middleware].
type Middleware = v1.Middleware

// Limits bound the memory and the handlers of a connection; see [v1.Limits].
type Limits = v1.Limits

// Selective is an optional interface for types with more methods than they serve; see
// [v1.Selective].
type Selective = v1.Selective

// ExtensionHandler is an optional interface for both roles that handles extension requests;
// see [v1.ExtensionHandler].
type ExtensionHandler = v1.ExtensionHandler

// ExtensionNotificationHandler is an optional interface for both roles that handles
// extension notifications; see [v1.ExtensionNotificationHandler].
type ExtensionNotificationHandler = v1.ExtensionNotificationHandler

// CapabilityError means that a call was not sent because the peer did not advertise the
// required capability; see [v1.CapabilityError].
type CapabilityError = v1.CapabilityError

// InvalidError means that a value violates the rules of the protocol; see
// [v1.InvalidError].
type InvalidError = v1.InvalidError

// FieldError is one violation of a rule; see [v1.FieldError].
type FieldError = v1.FieldError

// IdleError is the error of a turn of a silent agent; see [v1.IdleError].
type IdleError = v1.IdleError

// VersionError means that the peer does not support the requested version; see
// [v1.VersionError].
type VersionError = v1.VersionError

// The errors of this end of a connection. They are the same as in version 1. Use errors.Is.
var (
	// ErrClosed means that the connection has ended; see [v1.ErrClosed].
	ErrClosed = v1.ErrClosed
	// ErrOverloaded means that more input was pending than the hard limit allows; see
	// [v1.ErrOverloaded].
	ErrOverloaded = v1.ErrOverloaded
	// ErrStalled means that the peer stopped reading; see [v1.ErrStalled].
	ErrStalled = v1.ErrStalled
	// ErrTurnCancelled is the cause with which the ctx of the work of a session is cancelled
	// when the client cancels or closes the session.
	ErrTurnCancelled = v1.ErrTurnCancelled
	// ErrTurnRunning means that a replay of a session cannot begin, because a turn of the
	// session is running.
	ErrTurnRunning = v1.ErrTurnRunning
	// ErrHandlerStuck means that a handler ignores its ctx after the end of the connection;
	// see [v1.ErrHandlerStuck].
	ErrHandlerStuck = v1.ErrHandlerStuck
)
