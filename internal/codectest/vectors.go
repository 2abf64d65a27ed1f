package codectest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"
)

// A Vector records how the official TypeScript SDK decodes a JSON value as a type of the schema, or how a
// value of a newer schema is to be decoded by the annotations of its file.
type Vector struct {
	Schema string          `json:"schema"`
	Type   string          `json:"type"`
	Input  json.RawMessage `json:"input"`
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	Note   string          `json:"note"`
}

// Vectors returns the recorded values of all versions.
func (v *Version) Vectors(t testing.TB) (vectors []Vector) {
	t.Helper()
	for _, name := range v.Types {
		data, err := os.ReadFile(name)
		must(t, err, nil)
		var file []Vector
		must(t, json.Unmarshal(data, &file), data)
		vectors = append(vectors, file...)
	}
	return vectors
}

func testVectors(t *testing.T, v *Version) {
	used := 0
	for i, x := range v.Vectors(t) {
		if name := fmt.Sprint("v", v.Number); x.Schema != name && x.Schema != name+"u" {
			continue
		}
		t.Run(fmt.Sprint(i, " ", x.Type), func(t *testing.T) {
			var key bytes.Buffer
			must(t, json.Compact(&key, x.Input), x.Input)
			if d, ok := v.Differences[key.String()]; ok {
				used++
				x.OK, x.Output, x.Note = d.Output != "", json.RawMessage(d.Output), d.Why
			}
			got, err := v.Recode(t, x.Type, x.Input)
			if x.OK != (err == nil) {
				t.Fatalf("%s: %s: %v", x.Input, x.Note, err)
			}
			if err != nil {
				return
			}
			want, have := essence(t, x.Output), essence(t, got)
			if object, ok := have.(map[string]any); ok {
				for _, tag := range []string{"type", "sessionUpdate"} { // alone, our variants write their tag
					if want.(map[string]any)[tag] == nil {
						delete(object, tag)
					}
				}
			}
			same(t, want, have, []byte(x.Note))
		})
	}
	if used != len(v.Differences) {
		t.Error("a difference that no vector shows")
	}
}

// essence parses JSON without the members that mean the same as their absence.
func essence(t testing.TB, raw []byte) any {
	var v any
	must(t, json.Unmarshal(raw, &v), raw)
	return stripped(v)
}

func stripped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			if x = stripped(x); !Empty(x) {
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

// Empty reports whether a member with the value means the same as its absence: null, false, empty,
// the default.
func Empty(v any) bool {
	if v == nil || v == false || v == "object" {
		return true
	}
	x := reflect.ValueOf(v)
	return (x.Kind() == reflect.Map || x.Kind() == reflect.Slice) && x.Len() == 0
}

// The members beside a stop reason of a vendor are kept, even if another stop reason has a member
// of that name.
func testMembersBesideAStopReason(t *testing.T, v *Version) {
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
			u := v.named("IdleStateUpdate")
			must(t, json.Unmarshal([]byte(tt.in), u), nil)
			out, err := json.Marshal(u)
			must(t, err, nil)
			sameJSON(t, []byte(cmp.Or(tt.want, tt.in)), out)
		})
	}
	u := v.named("IdleStateUpdate")
	must(t, json.Unmarshal([]byte(`{"state":"idle","stopReason":"_budget","left":0.5}`), u), nil)
	extra := reflect.ValueOf(u).Elem().FieldByName("Extra").Interface()
	same(t, map[string]json.RawMessage{"left": json.RawMessage(`0.5`)}, extra, []byte("members beside a stop reason"))
}
