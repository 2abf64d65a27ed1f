package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Opt is a value with three states: absent, null, or present. Updates that patch
// what was sent earlier need all three: absent leaves the old value, null clears
// it, a value replaces it.
//
// The zero Opt is absent. Build the others with [Some] and [Null]; struct fields
// carry the json option omitzero, so that absent stays off the wire.
//
//	acp.SessionInfoUpdate{Title: acp.Some("Fix the parser")} // set the title
//	acp.SessionInfoUpdate{Title: acp.Null[string]()}         // clear it
//	acp.SessionInfoUpdate{}                                  // leave it alone
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

// Null returns an Opt that says null.
func Null[T any]() Opt[T] { return Opt[T]{state: optNull} }

// Get returns the value and true when one is present, else the zero value and
// false.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == optSome }

// Or returns the value when one is present, else fallback.
func (o Opt[T]) Or(fallback T) T {
	if o.state == optSome {
		return o.value
	}
	return fallback
}

// Apply returns what a receiver should remember after this patch of old: old when
// absent, the zero value when null, the new value when present.
func (o Opt[T]) Apply(old T) T {
	if o.state == optAbsent {
		return old
	}
	return o.value
}

// IsNull tells whether the Opt says null.
func (o Opt[T]) IsNull() bool { return o.state == optNull }

// IsZero tells whether the Opt is absent. The json option omitzero asks it.
func (o Opt[T]) IsZero() bool { return o.state == optAbsent }

// String shows the value, "null" or "absent".
func (o Opt[T]) String() string {
	switch o.state {
	case optNull:
		return "null"
	case optSome:
		return fmt.Sprint(o.value)
	}
	return "absent"
}

// MarshalJSON writes the value or null. An absent Opt outside of a field with
// omitzero can only be written as null too.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != optSome {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value or null. An Opt of a union type cannot be read on
// its own, because encoding/json does not know the variants; the struct that
// contains it can.
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

// ValidatorValue returns the value if one is present and nil if not. It is how
// the checks of this SDK, and those of go-playground/validator, see through an
// Opt.
func (o Opt[T]) ValidatorValue() any {
	if o.state != optSome {
		return nil
	}
	return o.value
}
