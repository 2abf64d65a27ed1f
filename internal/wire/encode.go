package wire

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// EncodeError says that a value has no JSON form.
type EncodeError struct {
	Path []string // leads to the bad member, such as update, content; may be empty
	Msg  string
}

func (e *EncodeError) Error() string {
	if len(e.Path) == 0 {
		return "json: " + e.Msg
	}
	var s strings.Builder
	for i, step := range e.Path {
		switch {
		case step != "" && strings.Trim(step, "0123456789") == "":
			s.WriteString("[" + step + "]")
			continue
		case i > 0:
			s.WriteByte('.')
		}
		s.WriteString(step)
	}
	return "json: " + s.String() + ": " + e.Msg
}

// Fields returns the failure as a violation of the member.
func (e *EncodeError) Fields() *FieldErrors {
	f := &FieldErrors{}
	f.Add(e.Path, e.Msg)
	return f
}

// Encoder appends JSON. It belongs to one goroutine. The first failure is kept
// and makes the whole output worthless.
//
// Names of members are given ready to append, with the comma in front and the
// colon after it: `,"path":`.
type Encoder struct {
	b     []byte
	start int
	err   error
}

// NewEncoder returns an Encoder that appends to b.
func NewEncoder(b []byte) Encoder { return Encoder{b: b, start: len(b)} }

// End returns the bytes, or what NewEncoder was given and the failure.
func (e *Encoder) End() ([]byte, error) {
	if e.err != nil {
		return e.b[:e.start], e.err
	}
	return e.b, nil
}

// Fail records that the value which would come next cannot be written.
func (e *Encoder) Fail(msg string) {
	if e.err == nil {
		// The way to the value can be read from what has been written.
		e.err = &EncodeError{Path: openPath(e.b[e.start:]), Msg: msg}
	}
}

// Missing records that the member of that name is not there and must be.
func (e *Encoder) Missing(name string) {
	e.Name(`,"` + name + `":`)
	e.Fail("missing")
}

// Open begins an object.
func (e *Encoder) Open() { e.b = append(e.b, '{') }

// Close ends an object.
func (e *Encoder) Close() { e.b = append(e.b, '}') }

// Name writes a member's name.
func (e *Encoder) Name(name string) {
	if e.b[len(e.b)-1] == '{' {
		name = name[1:]
	}
	e.b = append(e.b, name...)
}

// OpenArray begins an array.
func (e *Encoder) OpenArray() { e.b = append(e.b, '[') }

// Element must be called in front of every element.
func (e *Encoder) Element() {
	if e.b[len(e.b)-1] != '[' {
		e.b = append(e.b, ',')
	}
}

// CloseArray ends an array.
func (e *Encoder) CloseArray() { e.b = append(e.b, ']') }

// Null writes null.
func (e *Encoder) Null() { e.b = append(e.b, "null"...) }

// StringValue writes a string.
func (e *Encoder) StringValue(s string) { e.b = appendString(e.b, s) }

// String writes a member that is a string.
func (e *Encoder) String(name, s string) {
	e.Name(name)
	e.b = appendString(e.b, s)
}

// OptString writes a member that is a string unless it is empty.
func (e *Encoder) OptString(name, s string) {
	if s != "" {
		e.String(name, s)
	}
}

// StringPtr writes a member that is a string unless it is nil.
func (e *Encoder) StringPtr(name string, s *string) {
	if s != nil {
		e.String(name, *s)
	}
}

// WriteStrings writes a member that is an array of strings.
func WriteStrings[S ~string](e *Encoder, name string, list []S) {
	e.Name(name)
	StringValues(e, list)
}

// StringValues writes an array of strings.
func StringValues[S ~string](e *Encoder, list []S) {
	e.OpenArray()
	for _, s := range list {
		e.Element()
		e.b = appendString(e.b, string(s))
	}
	e.CloseArray()
}

// WriteUints writes a member that is an array of unsigned numbers.
func WriteUints[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, list []T) {
	e.Name(name)
	e.OpenArray()
	for _, n := range list {
		e.Element()
		e.b = strconv.AppendUint(e.b, uint64(n), 10)
	}
	e.CloseArray()
}

// WriteOptStrings writes a member that is an array of strings unless it is nil.
func WriteOptStrings[S ~string](e *Encoder, name string, list []S) {
	if list != nil {
		WriteStrings(e, name, list)
	}
}

// Bool writes a member that is a boolean.
func (e *Encoder) Bool(name string, v bool) {
	e.Name(name)
	e.BoolValue(v)
}

// BoolValue writes a boolean.
func (e *Encoder) BoolValue(v bool) { e.b = strconv.AppendBool(e.b, v) }

// OptBool writes a member that is a boolean unless it is false.
func (e *Encoder) OptBool(name string, v bool) {
	if v {
		e.Bool(name, v)
	}
}

// BoolPtr writes a member that is a boolean unless it is nil.
func (e *Encoder) BoolPtr(name string, v *bool) {
	if v != nil {
		e.Bool(name, *v)
	}
}

// WriteUint writes a member that is an unsigned integer.
func WriteUint[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, v T) {
	e.Name(name)
	e.b = strconv.AppendUint(e.b, uint64(v), 10)
}

// WriteUintPtr writes a member that is an unsigned integer unless it is nil.
func WriteUintPtr[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, v *T) {
	if v != nil {
		WriteUint(e, name, *v)
	}
}

// WriteInt writes a member that is a signed integer.
func WriteInt[T ~int32 | ~int64](e *Encoder, name string, v T) {
	e.Name(name)
	e.IntValue(int64(v))
}

// WriteIntPtr writes a member that is a signed integer unless it is nil.
func WriteIntPtr[T ~int32 | ~int64](e *Encoder, name string, v *T) {
	if v != nil {
		WriteInt(e, name, *v)
	}
}

// IntValue writes an integer.
func (e *Encoder) IntValue(v int64) { e.b = strconv.AppendInt(e.b, v, 10) }

// Float writes a member that is any number.
func (e *Encoder) Float(name string, v float64) {
	e.Name(name)
	e.FloatValue(v)
}

// FloatPtr writes a member that is any number unless it is nil.
func (e *Encoder) FloatPtr(name string, v *float64) {
	if v != nil {
		e.Float(name, *v)
	}
}

// FloatValue writes a number in the shortest form that reads back the same.
func (e *Encoder) FloatValue(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		e.Fail("not a number that JSON can hold")
		return
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	e.b = strconv.AppendFloat(e.b, v, format, -1, 64)
}

// StringMap writes a member that is an object of strings, sorted by name.
func (e *Encoder) StringMap(name string, m map[string]string) {
	e.Name(name)
	e.Open()
	for _, key := range SortedKeys(m) {
		e.Key(key)
		e.b = appendString(e.b, m[key])
	}
	e.Close()
}

// OptStringMap writes a member that is an object of strings unless it is nil.
func (e *Encoder) OptStringMap(name string, m map[string]string) {
	if m != nil {
		e.StringMap(name, m)
	}
}

// Key writes the name of a member that is not known in advance.
func (e *Encoder) Key(key string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = appendString(e.b, key)
	e.b = append(e.b, ':')
}

// Raw writes a member that is ready made JSON.
func (e *Encoder) Raw(name string, raw []byte) {
	e.Name(name)
	e.RawValue(raw)
}

// OptRaw writes a member that is ready made JSON unless it is empty.
func (e *Encoder) OptRaw(name string, raw []byte) {
	if len(raw) > 0 {
		e.Raw(name, raw)
	}
}

// RawObject writes a member that is a ready made JSON object.
func (e *Encoder) RawObject(name string, raw []byte) {
	e.Name(name)
	if i := envelope.SkipSpace(raw, 0); i == len(raw) || raw[i] != '{' {
		e.Fail("expected raw JSON of an object")
		return
	}
	e.RawValue(raw)
}

// OptRawObject writes a member that is a ready made JSON object unless it is
// empty.
func (e *Encoder) OptRawObject(name string, raw []byte) {
	if len(raw) > 0 {
		e.RawObject(name, raw)
	}
}

// RawValue writes ready made JSON. It must be one value; line breaks between its
// tokens are left out, because they would end the message on a stream of lines.
func (e *Encoder) RawValue(raw []byte) {
	if len(raw) == 0 {
		e.Fail("missing")
		return
	}
	if err := Check(raw); err != nil {
		e.Fail("raw " + err.Error())
		return
	}
	e.b = appendOneLine(e.b, bytes.TrimSpace(raw))
}

// Unknown writes a variant that this version does not know: its raw JSON as it
// came, or only its tag if there is no raw JSON.
func (e *Encoder) Unknown(tag, value string, raw []byte) {
	e.Open()
	e.UnknownMembers(tag, value, raw)
	e.Close()
}

// UnknownMembers is Unknown inside an object that is already open.
func (e *Encoder) UnknownMembers(tag, value string, raw []byte) {
	if len(raw) == 0 {
		if tag == "" || value == "" {
			e.Fail("missing raw JSON")
			return
		}
		e.Key(tag)
		e.StringValue(value)
		return
	}
	if err := Check(raw); err != nil {
		e.Fail("raw " + err.Error())
		return
	}
	raw = bytes.TrimSpace(raw)
	if raw[0] != '{' {
		e.Fail("expected raw JSON of an object")
		return
	}
	raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	if len(raw) == 0 {
		return
	}
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = appendOneLine(e.b, raw)
}

// Check reports whether raw is one JSON value and nothing else.
func Check(raw []byte) error {
	end, err := envelope.Skip(raw, 0, envelope.MaxDepth)
	if err != nil {
		return err
	}
	if end = envelope.SkipSpace(raw, end); end != len(raw) {
		return &envelope.SyntaxError{Offset: end, Msg: "more than one value"}
	}
	return nil
}

// appendOneLine appends well-formed JSON without line breaks between tokens;
// inside of strings there are none.
func appendOneLine(b, raw []byte) []byte {
	for {
		i := bytes.IndexAny(raw, "\r\n")
		if i < 0 {
			return append(b, raw...)
		}
		b = append(b, raw[:i]...)
		raw = raw[i+1:]
	}
}

// openPath reads, from the beginning of a JSON value, which members and elements
// lead to its end.
func openPath(b []byte) []string {
	type level struct {
		name  string
		index int // of the element; -1 in an object
	}
	var path []level
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			path = append(path, level{index: -1})
		case '[':
			path = append(path, level{})
		case '}', ']':
			path = path[:len(path)-1]
		case ',':
			if top := &path[len(path)-1]; top.index >= 0 {
				top.index++
			}
		case '"':
			end, err := envelope.SkipString(b, i)
			if err != nil {
				break
			}
			if end < len(b) && b[end] == ':' {
				path[len(path)-1].name = string(b[i+1 : end-1])
			}
			i = end - 1
		}
	}
	var steps []string
	for _, l := range path {
		switch {
		case l.index >= 0:
			steps = append(steps, strconv.Itoa(l.index))
		case l.name != "": // else no member of it has begun
			steps = append(steps, l.name)
		}
	}
	return steps
}
