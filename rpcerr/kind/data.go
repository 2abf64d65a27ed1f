package kind

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/rpcerr"
)

// WithData returns a copy whose Data is v, written by encoding/json; it replaces
// what was there, and nil or an empty object removes it. The peer sees it. A
// value that cannot be encoded is bad use.
//
// On the wire, members of an object are beside the error's own fields. A member with the
// name of such a field, such as "reason", neither replaces nor hides it.
func (e *Error) WithData(v any) *Error {
	raw, err := canonical(v)
	if err != nil {
		return e.refuse("kind.WithData", "the value cannot be encoded: "+err.Error())
	}
	return e.edit(func(c *Error) {
		if c.Data = raw; nothing(raw) {
			c.Data = nil
		}
	})
}

// With returns a copy that has one more member in Data.
func (e *Error) With(key string, value any) *Error {
	var members map[string]json.RawMessage
	if e != nil && len(e.Data) > 0 && json.Unmarshal(e.Data, &members) != nil {
		return e.refuse("kind.With", "Data is not an object")
	}
	raw, err := canonical(value)
	if err != nil {
		return e.refuse("kind.With", "the value of "+key+" cannot be encoded: "+err.Error())
	}
	if members == nil {
		members = make(map[string]json.RawMessage, 1)
	}
	members[key] = raw
	return e.WithData(members)
}

// DecodeData stores Data in the value that v points to. Without data it returns
// [rpcerr.ErrNoData].
func (e *Error) DecodeData(v any) error {
	if e == nil || nothing(e.Data) {
		return rpcerr.ErrNoData
	}
	if err := json.Unmarshal(e.Data, v); err != nil {
		return fmt.Errorf("decoding error data: %w", err)
	}
	return nil
}

// canonical gives two equal JSON values the same bytes, however they were
// written.
func canonical(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // integers beyond 2^53 survive
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// nothing reports whether a canonical value says nothing, so that Data is nil.
func nothing(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == "{}"
}
