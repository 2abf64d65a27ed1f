package acp

import (
	v1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// These types are the same in version 1, in every field and rule, so that programs for both
// versions need not convert them.

// Meta is [v1.Meta].
type Meta = v1.Meta

// Opt is [v1.Opt]: absent, null or a value.
type Opt[T any] = v1.Opt[T]

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return v1.Some(v) }

// Null returns an Opt that is null.
func Null[T any]() Opt[T] { return v1.Null[T]() }

// RequestID is [v1.RequestID]. In version 2 an id is a string or an integer: null and
// fractions are refused.
type RequestID = v1.RequestID

// NumberID returns the id n.
func NumberID(n int64) RequestID { return v1.NumberID(n) }

// StringID returns the id s.
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

// Handler is [v1.Handler].
type Handler = v1.Handler

// Middleware is [v1.Middleware].
type Middleware = v1.Middleware

// ExtensionHandler is [v1.ExtensionHandler].
type ExtensionHandler = v1.ExtensionHandler

// ExtensionNotificationHandler is [v1.ExtensionNotificationHandler].
type ExtensionNotificationHandler = v1.ExtensionNotificationHandler

// CapabilityError is [v1.CapabilityError].
type CapabilityError = v1.CapabilityError

// InvalidError is [v1.InvalidError].
type InvalidError = v1.InvalidError

// FieldError is [v1.FieldError].
type FieldError = v1.FieldError

// VersionError is [v1.VersionError].
type VersionError = v1.VersionError
