package wire

import (
	"bytes"
	"encoding/json"
	"maps"
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
