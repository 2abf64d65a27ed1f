package acp

import (
	"github.com/acpkit/go-sdk/internal/wire"
)

// Case is one type with its codec, for the tests that go through all types.
type Case struct {
	Name   string
	New    func() any                    // a pointer to a zero value
	Decode func(raw []byte) (any, error) // into such a pointer
	Append func(v any) ([]byte, error)   // from such a pointer
	Valid  func(v any, strict bool) bool // of such a pointer
}

func structCase[T any](name string, decode func(*wire.Decoder, *T) *wire.FieldErrors, encode func(*wire.Encoder, *T), valid func(*T, bool) bool) Case {
	return Case{
		Name: name,
		New:  func() any { return new(T) },
		Decode: func(raw []byte) (any, error) {
			d, v := wire.NewDecoder(raw), new(T)
			return d.End(v, decode(&d, v))
		},
		Append: func(v any) ([]byte, error) {
			e := wire.NewEncoder(nil)
			encode(&e, v.(*T))
			return e.End()
		},
		Valid: func(v any, strict bool) bool { return valid == nil || valid(v.(*T), strict) },
	}
}

func unionCase[T any](name string, decode func(*wire.Decoder, *T) *wire.FieldErrors, encode func(*wire.Encoder, T), valid func(T, bool) bool) Case {
	check := func(v *T, strict bool) bool { return valid == nil || valid(*v, strict) }
	return structCase(name, decode, func(e *wire.Encoder, v *T) { encode(e, *v) }, check)
}

// SetForTest makes an Opt of any value, for generated values.
func (o *Opt[T]) SetForTest(v any, null bool) {
	if null {
		*o = Null[T]()
	} else {
		*o = Some(v.(T))
	}
}

// ZeroForTest returns a pointer to a zero value of what the Opt holds.
func (o *Opt[T]) ZeroForTest() any { return new(T) }
