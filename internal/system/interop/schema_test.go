package interop_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schema is the protocol's JSON Schema, for telling which members of a recorded
// message the protocol knows.
type schema struct{ defs map[string]any }

func loadSchema(t *testing.T, version int64) *schema {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("../../schema/v%d-unstable.json", version))
	require.NoError(t, err)
	var doc struct {
		Defs map[string]any `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(b, &doc))
	return &schema{doc.Defs}
}

// payload finds the definition of a method's params (Request, Notification) or result
// (Response); nil for methods that the protocol does not define.
func (s *schema) payload(method, suffix string) any {
	for name, def := range s.defs {
		d, ok := def.(map[string]any)
		if ok && d["x-method"] == method && strings.HasSuffix(name, suffix) && d["x-side"] != "protocol" {
			return d
		}
	}
	return nil
}

// prune removes the members of v that def does not know. Where def says nothing about
// the inside of a value, all of it stays.
func (s *schema) prune(def, v any) any {
	switch v := v.(type) {
	case map[string]any:
		members, open := map[string][]any{}, false
		s.collect(def, v, members, &open)
		if len(members) == 0 {
			return v
		}
		out := map[string]any{}
		for name, value := range v {
			switch defs := members[name]; {
			case len(defs) > 0:
				out[name] = s.prune(all(defs), value)
			case open:
				out[name] = value
			}
		}
		return out
	case []any:
		items := s.items(def)
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = element
			if items != nil {
				out[i] = s.prune(items, element)
			}
		}
		return out
	}
	return v
}

func all(defs []any) any { return map[string]any{"allOf": defs} }

// alternatives are the parts that apply next to or instead of each other.
func (s *schema) alternatives(def any) (d map[string]any, parts []any) {
	d, _ = def.(map[string]any)
	if ref, ok := d["$ref"].(string); ok {
		parts = append(parts, s.defs[strings.TrimPrefix(ref, "#/$defs/")])
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := d[keyword].([]any)
		parts = append(parts, list...)
	}
	return d, parts
}

// collect gathers the members that def allows in v. Of a union only the parts count
// whose tag is v's.
func (s *schema) collect(def any, v map[string]any, members map[string][]any, open *bool) {
	d, parts := s.alternatives(def)
	if len(parts) == 0 && d["type"] == nil && d["properties"] == nil && d["const"] == nil {
		*open = true // any value
	}
	properties, _ := d["properties"].(map[string]any)
	for name, p := range properties {
		if tag, ok := p.(map[string]any)["const"]; ok && v[name] != tag {
			return
		}
	}
	if d["not"] != nil && s.tagged(d["not"], v) {
		return // the catch-all of a union is for unknown tags
	}
	for name, p := range properties {
		members[name] = append(members[name], p)
	}
	switch extra := d["additionalProperties"].(type) {
	case bool:
		*open = *open || extra
	case map[string]any:
		for name := range v {
			if properties[name] == nil {
				members[name] = append(members[name], extra)
			}
		}
	}
	if s.unknown(d, v) {
		*open = true // our ends keep a variant that they do not know as it is
	}
	for _, part := range parts {
		s.collect(part, v, members, open)
	}
}

// unknown reports whether def is a union and v has the member that tells its variants apart, but with a
// value that none of them has.
func (s *schema) unknown(def map[string]any, v map[string]any) bool {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list, _ := def[keyword].([]any)
		for _, variant := range list {
			properties, _ := variant.(map[string]any)["properties"].(map[string]any)
			for name, p := range properties {
				_, tag := p.(map[string]any)["const"]
				if _, set := v[name].(string); tag && set && !s.tagged(def, v) {
					return true
				}
			}
		}
	}
	return false
}

// tagged reports whether v has one of the tags that def lists.
func (s *schema) tagged(def any, v map[string]any) bool {
	d, parts := s.alternatives(def)
	properties, _ := d["properties"].(map[string]any)
	for name, p := range properties {
		if tag, ok := p.(map[string]any)["const"]; ok && v[name] == tag {
			return true
		}
	}
	return slices.ContainsFunc(parts, func(part any) bool { return s.tagged(part, v) })
}

// items is what an array's elements look like; several lists may be allowed.
func (s *schema) items(def any) any {
	d, parts := s.alternatives(def)
	var found []any
	if items := d["items"]; items != nil {
		found = append(found, items)
	}
	for _, part := range parts {
		if items := s.items(part); items != nil {
			found = append(found, items)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return all(slices.Clip(found))
}

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
