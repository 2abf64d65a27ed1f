// Package wire contains what the vocabularies and the engine share about JSON: the primitives of
// the generated codecs, the table of methods, the tree of field errors, and the sentinel errors of
// both.
//
// A message is read twice. envelope.Parse checks the whole message and finds the payload. A codec
// then decodes the payload with a [Decoder], which relies on that check. The Decoder also bounds
// and reports the memory that the message occupies. An [Encoder] appends to one buffer. Long
// strings are read and written eight bytes at a time, and nothing uses reflection.
//
// The codecs do not use encoding/json/jsontext because they are about 1.8 times as fast on the
// chunks that an agent streams, and more than three times on files (measured with go1.26). Fuzz
// tests verify that they accept the same input and read the same values as encoding/json.
package wire

import (
	"bytes"
	"math/bits"
	"unsafe"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// Decoder reads one JSON value into Go types. It must not be used by several goroutines at once.
//
// Every method that reads a value consumes exactly that value, whether or not it fits, so the
// caller can continue after it. A value that does not fit is a violation (a FieldErrors tree
// without path) and leaves the target unchanged.
//
// The bytes have been checked by envelope.Skip. A Decoder does not check them again, but stays
// within bounds on any input.
type Decoder struct {
	b    []byte
	i    int
	text text
	held int // memory in bytes of everything read so far

	// The fields below belong to Map.
	limit    int
	large    bool // an object was too large to be decoded without measuring
	measured bool // counts are those of what is being read
	counts   []int32
	counted  int // how many of counts are used
}

// NewDecoder returns a Decoder for the JSON value raw. It does not change raw, and does not keep it
// after decoding.
func NewDecoder(raw []byte) Decoder { return Decoder{b: raw} }

// End returns the results of Codec.Decode: v and the bytes of memory that it occupies, or an error.
func (d *Decoder) End(v any, errs *FieldErrors) (any, int64, error) {
	if errs != nil {
		return nil, 0, &DecodeError{Fields: errs}
	}
	return v, int64(d.held), nil
}

// Absent reports whether raw is empty or null. Types without required members decode it as their
// zero value.
func Absent(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// peek skips white space and returns the first byte of the next value, 0 at the
// end.
func (d *Decoder) peek() byte {
	if d.i < len(d.b) && d.b[d.i] > ' ' {
		return d.b[d.i]
	}
	if d.i = envelope.SkipSpace(d.b, d.i); d.i < len(d.b) {
		return d.b[d.i]
	}
	return 0
}

// Skip consumes a value.
func (d *Decoder) Skip() {
	end, err := envelope.Skip(d.b, d.i, envelope.MaxDepth)
	if err != nil {
		end = len(d.b)
	}
	d.i = end
}

// Null consumes a null and reports whether there was one.
func (d *Decoder) Null() bool {
	if d.peek() != 'n' {
		return false
	}
	d.Skip()
	return true
}

// Mark returns the position of the next value, for Return.
func (d *Decoder) Mark() int {
	d.peek()
	return d.i
}

// Return goes back to a position that Mark returned, so that a value can be read again.
func (d *Decoder) Return(mark int) { d.i = mark }

// Kind returns the kind of the next value: '"', '{', '[', 't' for booleans, 'n' for null, '0' for
// numbers, 0 if there is none.
func (d *Decoder) Kind() byte {
	switch c := d.peek(); c {
	case '"', '{', '[', 't', 'n', 0:
		return c
	case 'f':
		return 't'
	default:
		return '0'
	}
}

// Mismatch consumes a value of the wrong type and returns the violation.
func (d *Decoder) Mismatch(want string) *FieldErrors {
	got := kindNames[d.Kind()]
	d.Skip()
	return Violation("expected " + want + ", got " + got)
}

var kindNames = map[byte]string{
	'"': "string", '{': "object", '[': "array", 't': "boolean", 'n': "null", '0': "number", 0: "nothing",
}

// String reads a string.
func (d *Decoder) String(p *string) *FieldErrors {
	if d.peek() != '"' {
		return d.Mismatch("string")
	}
	*p = d.readString()
	return nil
}

// Text returns text, which has been read as a string.
func (d *Decoder) Text(text []byte) string { return d.text.take(d, text) }

// NonEmpty reads a string that must have at least one character.
func (d *Decoder) NonEmpty(p *string) *FieldErrors {
	var s string
	errs := d.String(&s)
	if errs == nil && s == "" {
		return Violation("must not be empty")
	}
	*p = s
	return errs
}

// URI reads a string that must be a URI with a scheme.
func (d *Decoder) URI(p *string) *FieldErrors {
	var s string
	errs := d.String(&s)
	if errs == nil && !IsURI(s) {
		return Violation(WrongURI(s))
	}
	*p = s
	return errs
}

// Enum reads a string. Known values are not allocated.
func (d *Decoder) Enum(p *string, known []string) *FieldErrors {
	if d.peek() != '"' {
		return d.Mismatch("string")
	}
	start := d.i
	if seg, plain := d.segment(); plain {
		for _, word := range known {
			if string(seg) == word {
				*p = word
				return nil
			}
		}
	}
	d.i = start
	*p = d.readString()
	return nil
}

// Bool reads a boolean.
func (d *Decoder) Bool(p *bool) *FieldErrors {
	c := d.peek()
	if c != 't' && c != 'f' {
		return d.Mismatch("boolean")
	}
	*p = c == 't'
	d.Skip()
	return nil
}

// Raw copies a value unchanged.
func (d *Decoder) Raw(p *[]byte) *FieldErrors {
	d.peek()
	start := d.i
	d.Skip()
	*p = bytes.Clone(d.b[start:d.i])
	d.Hold(d.i - start)
	return nil
}

// RawObject copies an object unchanged.
func (d *Decoder) RawObject(p *[]byte) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	return d.Raw(p)
}

// A decoded message may hold at most ten times its length. A Decoder charges everything it builds,
// with the size that the allocator uses for it. Fields of the protocol have fixed types, so they
// are charged and never refused. The content of a `_meta` is decoded only within the budget (see
// Decoder.Map).
const (
	// memoryFactor times the bytes read so far is the budget at any place in the message. It is
	// less than ten because later fields may need more than their share, and because slices grow in
	// steps.
	memoryFactor = 8
	// memoryFree is an additional budget of every message, so that the `_meta` of a short message
	// is decoded completely.
	memoryFree = 16 << 10
)

// Hold charges an allocation of n bytes.
func (d *Decoder) Hold(n int) { d.held += allocated(n) }

// affords reports whether the message may hold n more bytes once it has been read up
// to end.
func (d *Decoder) affords(n, end int) bool {
	return d.held+n <= memoryFree+memoryFactor*end
}

// New returns a new T and charges it.
func New[T any](d *Decoder) *T {
	v := new(T)
	d.Hold(int(unsafe.Sizeof(*v))) // Sizeof is a constant; nothing unsafe happens
	return v
}

// NewAt sets p to a new T, charges it and returns it.
func NewAt[T any](d *Decoder, p **T) *T {
	*p = New[T](d)
	return *p
}

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// allocated returns the size that the allocator uses for n bytes. For more than a few bytes it is
// at most an eighth more than n.
func allocated(n int) int {
	if n <= 512 {
		return (n + 15) &^ 15
	}
	step := min(1<<(bits.Len(uint(n-1))-4), 8<<10)
	return (n + step - 1) &^ (step - 1)
}

const (
	sliceHeader  = 24
	stringHeader = 16
	mapHeader    = 48
	mapGroup     = 8 // a map with one member has room for this many
)

// mapSize returns the size of a map with n members of slot bytes each. A map doubles its room when
// it is seven eighths full.
func mapSize(n, slot int) int {
	if n == 0 {
		return mapHeader
	}
	slots := mapGroup
	if n > mapGroup {
		slots = 1 << bits.Len(uint(n*8/7))
	}
	return mapHeader + allocated(slots*(slot+1))
}
