// Copied to acp/v2 by go generate.

package acp

import (
	"github.com/acpkit/go-sdk/internal/wire"
)

// Case is one type with its codec, for the tests that go through all types.
type Case struct {
	Name   string
	New    func() any                           // a pointer to a zero value
	Decode func(raw []byte) (any, int64, error) // into such a pointer, and what it holds
	Append func(v any) ([]byte, error)          // from such a pointer
	Valid  func(v any, strict bool) bool        // of such a pointer
}

// Named returns a value of the type of a definition, or nil if it has none.
func Named(def string) any {
	for _, c := range Cases {
		if c.Name == def {
			return c.New()
		}
	}
	return Plain[def]
}

func structCase[T any](name string, decode func(*wire.Decoder, *T) *wire.FieldErrors, encode func(*wire.Encoder, *T), valid func(*T, bool) bool) Case {
	return Case{
		Name: name,
		New:  func() any { return new(T) },
		Decode: func(raw []byte) (any, int64, error) {
			d := wire.NewDecoder(raw)
			v := wire.New[T](&d)
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
