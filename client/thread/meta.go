package thread

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// UnmarshalJSON decodes a number as a float64, or as a json.Number if it is an integer that
// a float64 cannot represent exactly.
func (m *Meta) UnmarshalJSON(data []byte) error {
	var read map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&read); err != nil {
		return err
	}
	for k, v := range read {
		read[k] = floats(v)
	}
	*m = read
	return nil
}

// floats replaces the numbers in v by float64 where that loses nothing.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v
		}
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil && (f >= 1<<63 || int64(f) != i) {
			return v
		}
		return f
	case map[string]any:
		for k, inner := range v {
			v[k] = floats(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = floats(inner)
		}
	}
	return v
}
