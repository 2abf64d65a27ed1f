// Package codectest holds the tests of the codecs that are the same for every version of the
// protocol. A version passes its tables, which the generator writes.
package codectest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

// A Case is one type with its codec.
type Case struct {
	Name   string
	New    func() any                           // a pointer to a zero value
	Decode func(raw []byte) (any, int64, error) // into such a pointer, and what it holds
	Append func(v any) ([]byte, error)          // from such a pointer
	Valid  func(v any, strict bool) bool        // of such a pointer
}

// Struct returns the Case of a type that is decoded into a pointer. If valid is nil, every value is
// valid.
func Struct[T any](name string, decode func(*wire.Decoder, *T) *wire.FieldErrors, encode func(*wire.Encoder, *T), valid func(*T, bool) bool) Case {
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

// Union is like [Struct], for a type whose values are not pointers.
func Union[T any](name string, decode func(*wire.Decoder, *T) *wire.FieldErrors, encode func(*wire.Encoder, T), valid func(T, bool) bool) Case {
	check := func(v *T, strict bool) bool { return valid == nil || valid(*v, strict) }
	return Struct(name, decode, func(e *wire.Encoder, v *T) { encode(e, *v) }, check)
}

// AliasUnion is like [Alias], for a union.
func AliasUnion[T any](name string, decode func([]byte) (T, error)) Case {
	c := Alias[T](name)
	c.Decode = func(raw []byte) (any, int64, error) {
		v, err := decode(raw)
		return &v, 0, err
	}
	c.Append = func(v any) ([]byte, error) { return json.Marshal(*v.(*T)) }
	c.Valid = func(v any, strict bool) bool { return validate.Struct(*v.(*T), strict) == nil }
	return c
}

// Alias returns the Case of a type that is the same in an older version, whose tests have its codec.
func Alias[T any](name string) Case {
	return Case{
		Name: name,
		New:  func() any { return new(T) },
		Decode: func(raw []byte) (any, int64, error) {
			v := new(T)
			return v, 0, json.Unmarshal(raw, v)
		},
		Append: func(v any) ([]byte, error) { return v.(json.Marshaler).MarshalJSON() },
		Valid:  func(v any, strict bool) bool { return validate.Struct(v, strict) == nil },
	}
}

// Tagged returns the Case of a type that is decoded and checked as a type M with the same fields.
func Tagged[T, M any](name string, decode func(*wire.Decoder, *M) *wire.FieldErrors, encode func(*wire.Encoder, *T), valid func(*M, bool) bool) Case {
	return Struct(name, func(d *wire.Decoder, v *T) *wire.FieldErrors { return decode(d, as[M](v)) }, encode,
		func(v *T, strict bool) bool { return valid == nil || valid(as[M](v), strict) })
}

// Like is like [Tagged], for a type T that is encoded as M too.
func Like[T, M any](name string, decode func(*wire.Decoder, *M) *wire.FieldErrors, encode func(*wire.Encoder, *M), valid func(*M, bool) bool) Case {
	return Tagged(name, decode, func(e *wire.Encoder, v *T) { encode(e, as[M](v)) }, valid)
}

// as converts a pointer.
func as[M any](v any) *M { return reflect.ValueOf(v).Convert(reflect.TypeFor[*M]()).Interface().(*M) }

// Type returns the type of the values.
func (c Case) Type() reflect.Type { return reflect.TypeOf(c.New()).Elem() }

// Tables has the types of a version.
type Tables struct {
	Cases    []Case                 // every type with a codec
	Variants map[reflect.Type][]any // of every union, the one for unknown values last
	Tags     map[string]string      // of every union that has one
	Plain    map[string]any         // a value of every type without a codec, by the name of its definition
	Values   map[string][]any       // the constants of every enumeration
}

// named returns a value of the type of a definition, or nil if it has none.
func (t *Tables) named(def string) any {
	for _, c := range t.Cases {
		if c.Name == def {
			return c.New()
		}
	}
	return t.Plain[def]
}

// A Version is what the tests need to know about a version of the protocol.
type Version struct {
	Tables
	Number int
	Schema string   // the folder of the schemas
	Types  []string // the files of vectors

	// StableRequests and StableNotifications are how many the schema has.
	StableRequests, StableNotifications int

	// Elsewhere has the definitions without a Go type, and what represents them.
	Elsewhere map[string]string

	// Needed has the members that unknown variants must have, by union.
	Needed map[string]string

	// HandWritten has the variants of unions whose codec is written by hand.
	HandWritten map[reflect.Type][]any

	// InitializeResult is the shortest result of initialize, with the version left open.
	InitializeResult string

	// NewID returns an id. It is called with a random number and a random text.
	NewID func(n int64, text string) any

	// Differences has the inputs that the version decodes differently on purpose. An empty Output
	// means an error.
	Differences map[string]struct{ Output, Why string }
}

// Test runs all tests.
func Test(t *testing.T, v *Version) {
	for name, test := range map[string]func(*testing.T, *Version){
		"round trip":               testRoundTrip,
		"checks agree":             testChecksAgree,
		"vectors":                  testVectors,
		"beside a stop reason":     testMembersBesideAStopReason,
		"no drift":                 testNoDrift,
		"method table":             testMethodTable,
		"null and unknown members": testNullAndUnknownMembers,
	} {
		t.Run(name, func(t *testing.T) { test(t, v) })
	}
}

// Recode decodes JSON as the type of a definition, and encodes it again.
func (v *Version) Recode(t testing.TB, def string, raw []byte) ([]byte, error) {
	t.Helper()
	if def == "ProtocolVersion" {
		out, err := v.Recode(t, "InitializeResponse", fmt.Appendf(nil, v.InitializeResult, raw))
		if err != nil {
			return nil, err
		}
		var answer struct{ ProtocolVersion json.RawMessage }
		must(t, json.Unmarshal(out, &answer), out)
		return answer.ProtocolVersion, nil
	}
	for _, c := range v.Cases {
		if c.Name == def {
			x, _, err := c.Decode(raw)
			if err != nil {
				return nil, err
			}
			out, err := c.Append(x)
			must(t, err, raw)
			return out, nil
		}
	}
	t.Fatalf("no type %s", def)
	return nil, nil
}

// must ends the test if there is an error about JSON.
func must(t testing.TB, err error, raw []byte) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

// same ends the test if two values about JSON differ.
func same(t testing.TB, want, have any, raw []byte) {
	t.Helper()
	if !reflect.DeepEqual(want, have) {
		t.Fatalf("%s\nwant %#v\nhave %#v", raw, want, have)
	}
}

// sameJSON ends the test if two texts are not the same JSON.
func sameJSON(t testing.TB, want, have []byte) {
	t.Helper()
	var x, y any
	must(t, json.Unmarshal(want, &x), want)
	must(t, json.Unmarshal(have, &y), have)
	same(t, x, y, have)
}
