package thread

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// metaAtMost is how many keys a Meta may have. Each update of an item copies its Meta, because
// a snapshot may hold it.
const metaAtMost = 1000

// merge returns old with what is in added. It changes neither. Keys beyond metaAtMost are
// left out, the last in their order.
func merge(old, added Meta) Meta {
	if len(added) == 0 {
		return old
	}
	if len(old) == 0 && len(added) <= metaAtMost {
		return added
	}
	var m Meta
	for _, key := range slices.Sorted(maps.Keys(added)) {
		if _, there := old[key]; !there && max(len(old), len(m)) >= metaAtMost {
			continue
		}
		if m == nil {
			m = make(Meta, len(old)+1)
			maps.Copy(m, old)
		}
		m[key] = added[key]
	}
	if m == nil { // nothing that is kept
		return old
	}
	return m
}

// UnmarshalJSON decodes a number as a float64, or as a json.Number if it is an integer that
// would be encoded with other digits as a float64.
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
		if !strings.ContainsAny(v.String(), ".eE") && strconv.FormatFloat(f, 'f', -1, 64) != v.String() {
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
