package interop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parseJSON reads a value with its numbers as they were written.
func parseJSON(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%s", text)
	return v
}

// withoutDefaults drops the members whose value says nothing: null, false, and what
// is empty, innermost first. Elements of arrays stay where they are.
func withoutDefaults(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member = withoutDefaults(member); !isDefault(member) {
				out[name] = member
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = withoutDefaults(element)
		}
		return out
	}
	return v
}

func isDefault(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// compareEvents asserts that a fixture saw what the vector's fixture saw.
func compareEvents(t *testing.T, want []json.RawMessage, got []any, unordered bool) {
	t.Helper()
	parse := func(raw []byte) any { return withoutDefaults(parseJSON(t, raw)) }
	var wanted, seen []any
	for _, raw := range want {
		wanted = append(wanted, parse(raw))
	}
	for _, e := range got {
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		seen = append(seen, parse(raw))
	}
	if unordered {
		assert.ElementsMatch(t, wanted, seen)
		return
	}
	assert.Equal(t, wanted, seen)
}
