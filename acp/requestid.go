package acp

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/acpkit/go-sdk/internal/wire"
)

// RequestID is the JSON-RPC id of a request: a string, an integer, or null. It is
// kept exactly as it was received, so that it can be sent back unchanged. RequestIDs are
// comparable. The zero value is no id and cannot be sent.
type RequestID struct{ raw string }

// NumberID returns an id that is an integer.
func NumberID(n int64) RequestID { return RequestID{strconv.FormatInt(n, 10)} }

// StringID returns an id that is a string.
func StringID(s string) RequestID { return RequestID{string(wire.AppendString(nil, s))} }

// NullID returns the id null. Version 1 allows it; do not use it for requests of your own.
func NullID() RequestID { return RequestID{"null"} }

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
		*id = NullID()
		return nil
	}
	return unmarshal(data, id, decodeRequestID)
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
