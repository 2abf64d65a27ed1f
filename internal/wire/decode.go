package wire

import (
	"bytes"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// Decoder reads the typed form of one JSON value. It belongs to one goroutine.
//
// Every method that reads a value consumes exactly that value, whether or not it
// fits what was asked for, so the caller can continue after it. A value that does not
// fit is a violation (a FieldErrors tree without path) and leaves the target unchanged.
//
// The bytes have been checked by envelope.Skip. A Decoder does not check them again, but
// stays within bounds on any input.
type Decoder struct {
	b    []byte
	i    int
	text text
	held int // bytes of memory that what was read so far takes

	// What Map needs: see there.
	limit   int
	counts  []int32
	counted int // of counts
}

// NewDecoder returns a Decoder for the JSON value raw, which is only read and
// not kept beyond the decoding.
func NewDecoder(raw []byte) Decoder { return Decoder{b: raw} }

// End turns the outcome of decoding into that of Codec.Decode.
func (d *Decoder) End(v any, errs *FieldErrors) (any, int64, error) {
	if errs != nil {
		return nil, 0, &DecodeError{Fields: errs}
	}
	return v, d.Held(), nil
}

// Absent reports whether raw holds nothing: no bytes or null. Types without
// required members read it as their zero value.
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

// Mark returns the place of the next value for Return.
func (d *Decoder) Mark() int {
	d.peek()
	return d.i
}

// Return goes back to a place that Mark returned, to read a value once more.
func (d *Decoder) Return(mark int) { d.i = mark }

// Kind returns what the next value is: '"', '{', '[', 't' for booleans, 'n' for
// null, '0' for numbers, 0 if there is none.
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

// Mismatch consumes a value that is not what was asked for and says so.
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

// Text returns text that has been read as a string.
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

// StringPtr reads a string into a new variable.
func (d *Decoder) StringPtr(p **string) *FieldErrors {
	var s string
	errs := d.String(&s)
	if errs == nil {
		d.Hold(stringHeader)
		*p = &s
	}
	return errs
}

// Enum reads a string whose usual values are known; those are not allocated.
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

// BoolPtr reads a boolean into a new variable.
func (d *Decoder) BoolPtr(p **bool) *FieldErrors {
	var v bool
	errs := d.Bool(&v)
	if errs == nil {
		*p = &v // shared by the runtime: nothing is allocated for it
	}
	return errs
}

// Raw copies a value as it is.
func (d *Decoder) Raw(p *[]byte) *FieldErrors {
	d.peek()
	start := d.i
	d.Skip()
	*p = bytes.Clone(d.b[start:d.i])
	d.Hold(d.i - start)
	return nil
}

// RawObject copies an object as it is.
func (d *Decoder) RawObject(p *[]byte) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	return d.Raw(p)
}
