package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Map writes a member with any content that encoding/json can encode, unless it is nil. Keys are
// sorted.
func (e *Encoder) Map(name string, m map[string]any) {
	if m == nil {
		return
	}
	e.Name(name)
	e.object(m, envelope.MaxDepth)
}

func (e *Encoder) object(m map[string]any, depth int) {
	e.Open()
	for _, key := range SortedKeys(m) {
		e.Key(key)
		e.value(m[key], depth-1)
	}
	e.Close()
}

func (e *Encoder) value(v any, depth int) {
	if depth <= 0 {
		e.Fail("nested too deep")
		return
	}
	switch v := v.(type) {
	case nil:
		e.Null()
	case string:
		e.StringValue(v)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case float64:
		e.FloatValue(v)
	case int:
		e.IntValue(int64(v))
	case map[string]any:
		if v == nil {
			e.Null()
			return
		}
		e.object(v, depth)
	case []any:
		if v == nil {
			e.Null()
			return
		}
		e.OpenArray()
		for _, x := range v {
			e.Element()
			e.value(x, depth-1)
		}
		e.CloseArray()
	default:
		e.other(v)
	}
}

// other writes a value of another type with encoding/json.
func (e *Encoder) other(v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		e.Fail(err.Error())
		return
	}
	e.b = append(e.b, bytes.TrimSpace(buf.Bytes())...)
}

// Extra writes the members that the protocol does not define.
func (e *Encoder) Extra(extra map[string]json.RawMessage) {
	for _, key := range SortedKeys(extra) {
		e.Key(key)
		e.RawValue(extra[key])
	}
}

// WriteUint writes a member that is an unsigned integer.
func WriteUint[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, v T) {
	e.Name(name)
	e.UintValue(uint64(v))
}

// WriteUintAt writes what p points to, unless p is nil.
func WriteUintAt[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, p *T) {
	if p != nil {
		WriteUint(e, name, *p)
	}
}

// UintValue writes an unsigned integer.
func (e *Encoder) UintValue(v uint64) { e.b = strconv.AppendUint(e.b, v, 10) }

// WriteInt writes a member that is a signed integer.
func WriteInt[T ~int32 | ~int64](e *Encoder, name string, v T) {
	e.Name(name)
	e.IntValue(int64(v))
}

// WriteIntAt writes what p points to, unless p is nil.
func WriteIntAt[T ~int32 | ~int64](e *Encoder, name string, p *T) {
	if p != nil {
		WriteInt(e, name, *p)
	}
}

// IntValue writes an integer.
func (e *Encoder) IntValue(v int64) { e.b = strconv.AppendInt(e.b, v, 10) }

// WriteFloat writes a member that is any number.
func WriteFloat(e *Encoder, name string, v float64) {
	e.Name(name)
	e.FloatValue(v)
}

// WriteFloatAt writes what p points to, unless p is nil.
func WriteFloatAt(e *Encoder, name string, p *float64) {
	if p != nil {
		WriteFloat(e, name, *p)
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

// Raw writes a member whose value is already JSON.
func (e *Encoder) Raw(name string, raw []byte) {
	e.Name(name)
	e.RawValue(raw)
}

// RawObject writes a member whose value is already a JSON object.
func (e *Encoder) RawObject(name string, raw []byte) {
	e.Name(name)
	if i := envelope.SkipSpace(raw, 0); i == len(raw) || raw[i] != '{' {
		e.Fail("expected raw JSON of an object")
		return
	}
	e.RawValue(raw)
}

// RawValue writes JSON, which must be one value. It removes line breaks between tokens, because
// they would end the message on a stream of lines.
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

// UnknownMembers writes a variant that this version does not know into an open object: the members
// of its raw JSON unchanged, or only its tag if there is no raw JSON.
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

// Check returns an error unless raw is exactly one JSON value.
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

// appendOneLine appends well-formed JSON without line breaks between tokens. Strings contain no
// line breaks.
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
