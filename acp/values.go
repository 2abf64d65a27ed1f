package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/acpkit/go-sdk/internal/wire"
)

//go:generate go -C ../internal/gen run .

// ProtocolVersion is the version of the Agent Client Protocol whose vocabulary this
// package holds: the value of protocolVersion in the request and the response of
// initialize. It changes only when the wire format does; new methods and fields are
// announced by capabilities instead.
const ProtocolVersion = 1

// Meta is the `_meta` member that almost every object of the protocol may carry:
// data that both ends have agreed on. The SDK passes it on and does not interpret it.
//
// Prefix keys of your own with a domain, such as "example.com/trace". The keys
// traceparent, tracestate and baggage are reserved for W3C trace context.
//
// Values have the types that encoding/json uses for an any: an object is a map[string]any,
// an array a []any, a number a float64. An integer that a float64 cannot represent exactly
// is a json.Number. A nil Meta is omitted.
//
// A decoded message occupies at most about ten times its length in memory, or 16 KiB if it
// is short. Objects and arrays in a Meta that would exceed this limit remain
// json.RawMessage.
type Meta map[string]any

// Opt is an optional value with three states: absent, null, or a value. In an update,
// absent keeps the previous value, null clears it, and a value replaces it.
//
// The zero value is absent. [Some] and [Null] return the other states. Fields of type Opt
// have the option omitzero, which omits absent values.
//
//	acp.SessionInfoUpdate{Title: acp.Some("Fix the parser")} // set the title
//	acp.SessionInfoUpdate{Title: acp.Null[string]()}         // clear it
//	acp.SessionInfoUpdate{}                                  // keep it
type Opt[T any] struct {
	value T
	state optState
}

type optState uint8

const (
	optAbsent optState = iota
	optNull
	optSome
)

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, state: optSome} }

// Set sets o to the value v.
func (o *Opt[T]) Set(v T) { *o = Some(v) }

// Null returns an Opt that is null.
func Null[T any]() Opt[T] { return Opt[T]{state: optNull} }

// Get returns the value and reports whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == optSome }

// Or returns the value if there is one, and fallback otherwise.
func (o Opt[T]) Or(fallback T) T {
	if o.state == optSome {
		return o.value
	}
	return fallback
}

// Apply returns the result of updating old: old if o is absent, the zero value if it is
// null, and otherwise the value of o.
func (o Opt[T]) Apply(old T) T {
	if o.state == optAbsent {
		return old
	}
	return o.value
}

// IsNull reports whether o is null.
func (o Opt[T]) IsNull() bool { return o.state == optNull }

// IsZero reports whether o is absent. The option omitzero uses it.
func (o Opt[T]) IsZero() bool { return o.state == optAbsent }

// String returns the formatted value, "null" or "absent".
func (o Opt[T]) String() string {
	switch o.state {
	case optNull:
		return "null"
	case optSome:
		return fmt.Sprint(o.value)
	}
	return "absent"
}

// MarshalJSON encodes the value or null. An absent Opt is encoded as null, unless it is a
// field with the option omitzero.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != optSome {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON decodes a value or null. It cannot decode an Opt of a union by itself,
// because encoding/json does not know the variants; the struct that contains it can.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		*o = Null[T]()
		return nil
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*o = Some(v)
	return nil
}

// RequestID is the JSON-RPC id of a request: a string, a number or null. It is kept
// exactly as it was received, so that it can be sent back unchanged. RequestIDs are
// comparable. The zero value is no id and cannot be sent.
type RequestID struct{ raw string }

// NumberID returns an id that is an integer.
func NumberID(n int64) RequestID { return RequestID{strconv.FormatInt(n, 10)} }

// StringID returns an id that is a string.
func StringID(s string) RequestID { return RequestID{string(wire.AppendString(nil, s))} }

// String returns the id as JSON; strings are quoted.
func (id RequestID) String() string { return id.raw }

// IsZero reports whether there is no id.
func (id RequestID) IsZero() bool { return id.raw == "" }

// IsNull reports whether the id is null.
func (id RequestID) IsNull() bool { return id.raw == "null" }

// MarshalJSON encodes the id as it was received. The zero value is encoded as null.
func (id RequestID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return []byte(id.raw), nil
}

// UnmarshalJSON decodes a string, a number or null.
func (id *RequestID) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		*id = RequestID{"null"}
		return nil
	}
	return wire.Unmarshal(data, id, decodeRequestID)
}

func decodeRequestID(d *wire.Decoder, id *RequestID) *wire.FieldErrors {
	mark := d.Mark()
	var raw json.RawMessage
	if errs := d.Raw((*[]byte)(&raw)); errs != nil {
		return errs
	}
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == 't' || raw[0] == 'f' {
		d.Return(mark)
		return d.Mismatch("string, number or null")
	}
	id.raw = d.Text(raw)
	return nil
}

func encodeRequestID(e *wire.Encoder, id *RequestID) {
	if id.IsZero() {
		e.Fail("missing")
		return
	}
	e.RawValue([]byte(id.raw))
}
