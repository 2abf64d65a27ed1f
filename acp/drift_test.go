// Copied to acp/v2 by go generate.

package acp_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// node is the part of a schema that this test needs. The test does not use the generator, which it
// checks.
type node struct {
	Ref        string          `json:"$ref"`
	Const      any             `json:"const"`
	Properties map[string]node `json:"properties"`
	Required   []string        `json:"required"`
	AllOf      []node          `json:"allOf"`
	AnyOf      []node          `json:"anyOf"`
	OneOf      []node          `json:"oneOf"`
	Method     string          `json:"x-method"`
	Side       string          `json:"x-side"`
	Envelope   bool            `json:"x-docs-ignore"`
}

func readSchema(t *testing.T, name string) map[string]node {
	data, err := os.ReadFile(schemaDir + name)
	require.NoError(t, err)
	var file struct {
		Defs map[string]node `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(data, &file))
	return file.Defs
}

// TestNoDrift lists every definition, member, constant, variant and method of the
// facts that the package lacks.
func TestNoDrift(t *testing.T) {
	defs := readSchema(t, schemaName+"-unstable.json")
	require.Len(t, defs, definitions)
	for name := range readSchema(t, schemaName+".json") {
		assert.Contains(t, defs, name, "stable definition missing from the unstable facts")
	}
	var missing []string
	for name, def := range defs {
		if def.Envelope {
			continue
		}
		unhandled := def.Method == "$/cancel_request" || strings.HasPrefix(def.Method, "proxy/")
		if unhandled || elsewhere[name] != "" {
			assert.Nil(t, acp.Named(name), name)
			if unhandled {
				assert.True(t, wire.Defines(acp.ProtocolVersion, def.Method), "%s is not an extension", def.Method)
			}
			continue
		}
		v := acp.Named(name)
		if v == nil {
			missing = append(missing, "type "+name)
			continue
		}
		missing = append(missing, missingMembers(name, def, reflect.TypeOf(v).Elem())...)
		missing = append(missing, missingValues(name, def)...)
		if def.Method != "" {
			missing = append(missing, missingMethod(name, def, v)...)
		}
	}
	slices.Sort(missing)
	assert.Empty(t, missing, strings.Join(missing, "\n"))
}

// missingMembers compares properties with the struct's fields, and with those of
// the variants where a union is a part of the struct.
func missingMembers(name string, def node, t reflect.Type) (missing []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	have := map[string]bool{}
	for field := range t.Fields() {
		field, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		have[field] = true
	}
	for property := range def.Properties {
		if !have[property] {
			missing = append(missing, "member "+name+"."+property)
		}
	}
	return missing
}

// missingValues compares the constants of an enumeration and the tags of a union.
func missingValues(name string, def node) (missing []string) {
	for _, choice := range slices.Concat(def.OneOf, def.AnyOf) {
		if choice.Const != nil {
			if !slices.ContainsFunc(acp.Values[name], func(v any) bool { return sameConstant(v, choice.Const) }) {
				missing = append(missing, "value "+name)
			}
		}
		for tag, property := range choice.Properties {
			if value, ok := property.Const.(string); ok && !knowsTag(name, tag, value) {
				missing = append(missing, "variant "+name+"."+value)
			}
		}
	}
	return missing
}

func sameConstant(v, c any) bool {
	x := reflect.ValueOf(v)
	if x.Kind() == reflect.String {
		return x.String() == c
	}
	n, ok := c.(float64)
	return ok && x.CanInt() && x.Int() == int64(n)
}

// knowsTag reports whether an object with that tag is decoded as a variant that the
// package knows. The object may be refused, because members are missing, but it must
// not be decoded as an unknown variant.
func knowsTag(name, tag, value string) bool {
	for _, c := range acp.Cases {
		if c.Name != name {
			continue
		}
		object := map[string]any{tag: value}
		for _, required := range []string{"message", "sessionId", "configId", "id", "name"} { // of flat definitions
			object[required] = "x"
		}
		raw, err := json.Marshal(object)
		if err != nil {
			return false
		}
		v, _, err := c.Decode(raw)
		return err != nil || !strings.Contains(show(reflect.ValueOf(v)), "Raw=") // only variants that are not known keep it
	}
	return false
}

var sides = map[string]wire.Side{"agent": wire.Agent, "client": wire.Client, "proxy": wire.Proxy, "protocol": wire.Protocol}

// missingMethod looks for the row in the method table that has the payload.
func missingMethod(name string, def node, v any) []string {
	row := wire.Request(acp.ProtocolVersion, def.Method)
	if strings.HasSuffix(name, "Notification") {
		row = wire.Notification(acp.ProtocolVersion, def.Method)
	}
	switch {
	case row == nil:
		return []string{"method " + def.Method}
	case row.Side != sides[def.Side]:
		return []string{"side of method " + def.Method}
	case strings.HasSuffix(name, "Response") && !row.Result.Is(v):
		return []string{"result of method " + def.Method}
	case !strings.HasSuffix(name, "Response") && !row.Params.Is(v):
		return []string{"params of method " + def.Method}
	}
	return nil
}

// The method table has the methods of the schema.
func TestMethodTable(t *testing.T) {
	stable := readSchema(t, schemaName+".json")
	requests, notifications := 0, 0
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		known := false
		for name, def := range stable {
			known = known || def.Method == m.Name && strings.HasSuffix(name, "Notification") == m.Notification
		}
		assert.Equal(t, known, !m.Unstable, m.Name)
		assert.Equal(t, m.Notification || m.Params == nil, m.Result == nil, m.Name)
		if m.Unstable {
			continue
		}
		if m.Notification {
			notifications++
		} else {
			requests++
		}
	}
	assert.Equal(t, stableRequests, requests)
	assert.Equal(t, stableNotifications, notifications)
}

// jsonSchema is the part of a schema that this test needs.
type jsonSchema struct {
	Type       any                    `json:"type"`
	AnyOf      []jsonSchema           `json:"anyOf"`
	OneOf      []jsonSchema           `json:"oneOf"`
	AllOf      []jsonSchema           `json:"allOf"`
	Properties map[string]*jsonSchema `json:"properties"`
	OnError    bool                   `json:"x-deserialize-default-on-error"`
	OnNull     bool                   `json:"x-deserialize-default-on-null"`
}

// takesNull reports whether the schema accepts null, as a value or as an absent member.
func (s *jsonSchema) takesNull() bool {
	if s.OnError || s.OnNull || s.Type == "null" {
		return true
	}
	if list, ok := s.Type.([]any); ok {
		for _, x := range list {
			if x == "null" {
				return true
			}
		}
	}
	for _, list := range [][]jsonSchema{s.AnyOf, s.OneOf} {
		for _, one := range list {
			if one.takesNull() {
				return true
			}
		}
	}
	return false
}

// Null is accepted wherever the schema allows it, and unknown members are accepted everywhere.
func TestNullAndUnknownMembersOfEveryType(t *testing.T) {
	data, err := os.ReadFile(schemaDir + schemaName + "-unstable.json")
	require.NoError(t, err)
	var schema struct {
		Defs map[string]*jsonSchema `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(data, &schema))
	nulls, types := 0, 0
	for i, c := range acp.Cases {
		def := schema.Defs[c.Name]
		if def == nil || len(def.Properties) == 0 {
			continue
		}
		types++
		raw, err := c.Append(newMaker(uint64(i)).value(typeOf(c)).Interface())
		require.NoError(t, err)
		with := func(name, value string) []byte {
			var members map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(raw, &members))
			members[name] = json.RawMessage(value)
			out, err := json.Marshal(members)
			require.NoError(t, err)
			return out
		}
		for name, property := range def.Properties {
			if !property.takesNull() {
				continue
			}
			nulls++
			v, _, err := c.Decode(with(name, "null"))
			if !assert.NoError(t, err, "%s.%s is null", c.Name, name) {
				continue
			}
			_, err = c.Append(v)
			assert.NoError(t, err, "%s.%s was null", c.Name, name)
		}
		_, _, err = c.Decode(with("zzNew", `{"zz":[null]}`))
		assert.NoError(t, err, "%s with a member nobody knows", c.Name)
	}
	t.Logf("%d members of %d types may be null", nulls, types)
	assert.Greater(t, nulls, 300)
}
