// Copied to acp/v2 by go generate.

package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
)

// vector records how the official TypeScript SDK decodes a JSON value as a type of the schema.
type vector struct {
	Schema string          `json:"schema"`
	Type   string          `json:"type"`
	Input  json.RawMessage `json:"input"`
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	Note   string          `json:"note"`
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(data, &vectors))
	used := 0
	for i, v := range vectors {
		if v.Schema != schemaName && v.Schema != schemaName+"u" {
			continue
		}
		t.Run(fmt.Sprint(i, " ", v.Type), func(t *testing.T) {
			var key bytes.Buffer
			require.NoError(t, json.Compact(&key, v.Input))
			if d, ok := differences[key.String()]; ok {
				used++
				v.OK, v.Output, v.Note = d.output != "", json.RawMessage(d.output), d.why
			}
			got, err := decodeAs(t, v.Type, v.Input)
			if !v.OK {
				require.Error(t, err, "%s: %s", v.Input, v.Note)
				return
			}
			require.NoError(t, err, "%s: %s", v.Input, v.Note)
			want, have := essence(t, v.Output), essence(t, got)
			if object, ok := have.(map[string]any); ok {
				for _, tag := range []string{"type", "sessionUpdate"} { // alone, our variants write their tag
					if want.(map[string]any)[tag] == nil {
						delete(object, tag)
					}
				}
			}
			assert.Equal(t, want, have, v.Note)
		})
	}
	assert.Len(t, differences, used, "a difference that no vector shows")
}

// decodeAs decodes and encodes again.
func decodeAs(t *testing.T, def string, raw []byte) ([]byte, error) {
	if def == "ProtocolVersion" {
		def, raw = "InitializeResponse", fmt.Appendf(nil, initializeResult, raw)
		out, err := decodeAs(t, def, raw)
		if err != nil {
			return nil, err
		}
		var answer struct{ ProtocolVersion json.RawMessage }
		require.NoError(t, json.Unmarshal(out, &answer))
		return answer.ProtocolVersion, nil
	}
	for _, c := range acp.Cases {
		if c.Name == def {
			v, _, err := c.Decode(raw)
			if err != nil {
				return nil, err
			}
			out, err := c.Append(v)
			require.NoError(t, err)
			return out, nil
		}
	}
	t.Fatalf("no type %s", def)
	return nil, nil
}

// essence parses JSON without the members that mean the same as their absence: null, false, empty,
// the default.
func essence(t *testing.T, raw []byte) any {
	var v any
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	return stripped(v)
}

func stripped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			if x = stripped(x); !empty(x) {
				out[key] = x
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = stripped(v[i])
		}
	}
	return v
}

func empty(v any) bool {
	if v == nil || v == false || v == "object" {
		return true
	}
	x := reflect.ValueOf(v)
	return (x.Kind() == reflect.Map || x.Kind() == reflect.Slice) && x.Len() == 0
}

// The members beside a stop reason of a vendor are kept, even if another stop reason has a member
// of that name.
func TestMembersBesideAStopReason(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"of a vendor":       {`{"state":"idle","stopReason":"_budget","left":0.5,"until":{"day":[1]}}`, ``},
		"its own error":     {`{"state":"idle","stopReason":"_budget","error":"spent"}`, ``},
		"an error":          {`{"state":"idle","stopReason":"error","error":{"code":1,"message":"m"}}`, ``},
		"of a newer peer":   {`{"state":"idle","stopReason":"end_turn","cost":1}`, ``},
		"no error at all":   {`{"state":"idle","stopReason":"error","error":{"code":1}}`, `{"state":"idle","stopReason":"error"}`},
		"null is no error":  {`{"state":"idle","stopReason":"error","error":null}`, `{"state":"idle","stopReason":"error"}`},
		"the last of two":   {`{"state":"idle","stopReason":"_budget","left":1,"left":2}`, `{"state":"idle","stopReason":"_budget","left":2}`},
		"nothing beside it": {`{"state":"idle","stopReason":"_budget"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var u acp.IdleStateUpdate
			require.NoError(t, json.Unmarshal([]byte(tt.in), &u))
			out, err := json.Marshal(&u)
			require.NoError(t, err)
			if tt.want == "" {
				tt.want = tt.in
			}
			assert.JSONEq(t, tt.want, string(out))
		})
	}
	var u acp.IdleStateUpdate
	require.NoError(t, json.Unmarshal([]byte(`{"state":"idle","stopReason":"_budget","left":0.5}`), &u))
	assert.Equal(t, map[string]json.RawMessage{"left": json.RawMessage(`0.5`)}, u.Extra)
}
