// Copied to acp/v2 by go generate.

package acp_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
)

// jsonSchema is what a test needs to know of the schema.
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

// Programs in use write null where there is nothing to say, and members that this SDK
// does not know. The former is fine wherever the schema allows it, the latter anywhere.
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
