package wire

import (
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// EncodeError means that a value has no JSON form.
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

// Fields returns the error as a violation of the member.
func (e *EncodeError) Fields() *FieldErrors {
	f := &FieldErrors{}
	f.Add(e.Path, e.Msg)
	return f
}

// Encoder appends JSON to a buffer. It must not be used by several goroutines at once. After the
// first failure the output is discarded.
//
// Names of members are given ready to append, with the comma in front and the colon after it:
// `,"path":`.
type Encoder struct {
	b     []byte
	start int
	err   error
}

// NewEncoder returns an Encoder that appends to b.
func NewEncoder(b []byte) Encoder { return Encoder{b: b, start: len(b)} }

// End returns the bytes. After a failure it returns the bytes that NewEncoder was given, and the
// error.
func (e *Encoder) End() ([]byte, error) {
	if e.err != nil {
		return e.b[:e.start], e.err
	}
	return e.b, nil
}

// Fail records that the next value cannot be written.
func (e *Encoder) Fail(msg string) {
	if e.err == nil {
		// The output so far shows the path to the value.
		e.err = &EncodeError{Path: openPath(e.b[e.start:]), Msg: msg}
	}
}

// Missing records that the required member of that name is absent.
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

// OpenVariant begins the object of a variant with its tag, such as `"type":"text"`, and returns the
// variant. If v is nil, e fails, and the variant is an empty one.
func OpenVariant[T any](e *Encoder, v *T, tag string) *T {
	if v == nil {
		e.Fail("missing")
		v = new(T)
	}
	e.b = append(append(e.b, '{'), tag...)
	return v
}

// OpenList writes the name of a member and begins its array.
func (e *Encoder) OpenList(name string) {
	e.Name(name)
	e.OpenArray()
}

// OpenArray begins an array.
func (e *Encoder) OpenArray() { e.b = append(e.b, '[') }

// Element must be called before every element.
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

// Text writes a member that is a string, unless it is empty.
func (e *Encoder) Text(name, s string) {
	if s != "" {
		e.String(name, s)
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

// WriteBool writes a member that is a boolean.
func WriteBool(e *Encoder, name string, v bool) {
	e.Name(name)
	e.BoolValue(v)
}

// WriteBoolAt writes what p points to, unless p is nil.
func WriteBoolAt(e *Encoder, name string, p *bool) {
	if p != nil {
		WriteBool(e, name, *p)
	}
}

// Flag writes a member that is true, unless it is false.
func (e *Encoder) Flag(name string, v bool) {
	if v {
		WriteBool(e, name, v)
	}
}

// BoolValue writes a boolean.
func (e *Encoder) BoolValue(v bool) { e.b = strconv.AppendBool(e.b, v) }

// Key writes the name of a member that is not known in advance.
func (e *Encoder) Key(key string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = appendString(e.b, key)
	e.b = append(e.b, ':')
}

// openPath returns the names and indexes that lead to the end of an unfinished JSON value.
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
		case l.name != "": // otherwise no member of the object has begun
			steps = append(steps, l.name)
		}
	}
	return steps
}
