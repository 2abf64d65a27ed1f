package codectest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acpkit/go-sdk/internal/wire"
)

// node is the part of a schema that these tests need. They do not use the generator, which they
// check.
type node struct {
	Type       any              `json:"type"`
	Const      any              `json:"const"`
	Properties map[string]*node `json:"properties"`
	AnyOf      []*node          `json:"anyOf"`
	OneOf      []*node          `json:"oneOf"`
	Method     string           `json:"x-method"`
	Side       string           `json:"x-side"`
	Envelope   bool             `json:"x-docs-ignore"`
	OnError    bool             `json:"x-deserialize-default-on-error"`
	OnNull     bool             `json:"x-deserialize-default-on-null"`
}

// schema reads the definitions of the schema, with those that are not stable unless stable is set.
func (v *Version) schema(t *testing.T, stable bool) map[string]*node {
	t.Helper()
	name := fmt.Sprintf("v%d-unstable.json", v.Number)
	if stable {
		name = fmt.Sprintf("v%d.json", v.Number)
	}
	data, err := os.ReadFile(filepath.Join(v.Schema, name))
	must(t, err, nil)
	var file struct {
		Defs map[string]*node `json:"$defs"`
	}
	must(t, json.Unmarshal(data, &file), nil)
	return file.Defs
}

// testNoDrift lists every definition, member, constant, variant and method of the facts that the
// package lacks.
func testNoDrift(t *testing.T, v *Version) {
	defs := v.schema(t, false)
	for name := range v.schema(t, true) {
		if defs[name] == nil {
			t.Errorf("stable definition %s is missing from the unstable facts", name)
		}
	}
	var missing []string
	for name, def := range defs {
		if def.Envelope {
			continue
		}
		x := v.named(name)
		unhandled := def.Method == "$/cancel_request" || strings.HasPrefix(def.Method, "proxy/")
		switch {
		case unhandled || v.Elsewhere[name] != "":
			if x != nil {
				t.Errorf("%s has a type", name)
			}
			if unhandled && !wire.Defines(v.Number, def.Method) {
				t.Errorf("%s is not an extension", def.Method)
			}
		case x == nil:
			missing = append(missing, "type "+name)
		default:
			missing = append(missing, missingMembers(name, def, reflect.TypeOf(x).Elem())...)
			missing = append(missing, v.missingValues(name, def)...)
			if def.Method != "" {
				missing = append(missing, v.missingMethod(name, def, x)...)
			}
		}
	}
	if slices.Sort(missing); missing != nil {
		t.Error(strings.Join(missing, "\n"))
	}
}

// missingMembers compares properties with the struct's fields, and with those of
// the variants where a union is a part of the struct.
func missingMembers(name string, def *node, t reflect.Type) (missing []string) {
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
func (v *Version) missingValues(name string, def *node) (missing []string) {
	for _, choice := range slices.Concat(def.OneOf, def.AnyOf) {
		if choice.Const != nil {
			if !slices.ContainsFunc(v.Values[name], func(x any) bool { return sameConstant(x, choice.Const) }) {
				missing = append(missing, "value "+name)
			}
		}
		for tag, property := range choice.Properties {
			if value, ok := property.Const.(string); ok && !v.knowsTag(name, tag, value) {
				missing = append(missing, "variant "+name+"."+value)
			}
		}
	}
	return missing
}

// sameConstant reports whether a value is a constant of the schema.
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
func (v *Version) knowsTag(name, tag, value string) bool {
	for _, c := range v.Cases {
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
		x, _, err := c.Decode(raw)
		return err != nil || !strings.Contains(show(reflect.ValueOf(x)), "Raw=") // only variants that are not known keep it
	}
	return false
}

var sides = map[string]wire.Side{"agent": wire.Agent, "client": wire.Client, "proxy": wire.Proxy, "protocol": wire.Protocol}

// missingMethod looks for the row in the method table that has the payload.
func (v *Version) missingMethod(name string, def *node, x any) []string {
	row := wire.Request(v.Number, def.Method)
	if strings.HasSuffix(name, "Notification") {
		row = wire.Notification(v.Number, def.Method)
	}
	switch {
	case row == nil:
		return []string{"method " + def.Method}
	case row.Side != sides[def.Side]:
		return []string{"side of method " + def.Method}
	case strings.HasSuffix(name, "Response") && !row.Result.Is(x):
		return []string{"result of method " + def.Method}
	case !strings.HasSuffix(name, "Response") && !row.Params.Is(x):
		return []string{"params of method " + def.Method}
	}
	return nil
}

// The method table has the methods of the schema.
func testMethodTable(t *testing.T, v *Version) {
	stable := v.schema(t, true)
	requests, notifications := 0, 0
	for _, m := range wire.Methods(v.Number) {
		known := false
		for name, def := range stable {
			known = known || def.Method == m.Name && strings.HasSuffix(name, "Notification") == m.Notification
		}
		if known == m.Unstable || (m.Notification || m.Params == nil) != (m.Result == nil) {
			t.Errorf("%s: %+v, in the stable schema %t", m.Name, m, known)
		}
		switch {
		case m.Unstable:
		case m.Notification:
			notifications++
		default:
			requests++
		}
	}
	same(t, v.StableRequests, requests, []byte("stable requests"))
	same(t, v.StableNotifications, notifications, []byte("stable notifications"))
}

// takesNull reports whether the schema accepts null, as a value or as an absent member.
func (n *node) takesNull() bool {
	list, _ := n.Type.([]any)
	return n.OnError || n.OnNull || n.Type == "null" || slices.Contains(list, "null") ||
		slices.ContainsFunc(slices.Concat(n.AnyOf, n.OneOf), (*node).takesNull)
}

// Null is accepted wherever the schema allows it, and unknown members are accepted everywhere.
func testNullAndUnknownMembers(t *testing.T, v *Version) {
	defs := v.schema(t, false)
	nulls := 0
	for i, c := range v.Cases {
		def := defs[c.Name]
		if def == nil || len(def.Properties) == 0 {
			continue
		}
		raw, err := c.Append(v.Random(c, uint64(i)))
		must(t, err, nil)
		recode := func(name, value string) {
			var members map[string]json.RawMessage
			must(t, json.Unmarshal(raw, &members), raw)
			members[name] = json.RawMessage(value)
			with, err := json.Marshal(members)
			must(t, err, raw)
			x, _, err := c.Decode(with)
			if err == nil {
				_, err = c.Append(x)
			}
			if err != nil {
				t.Errorf("%s with %s %s: %v", c.Name, name, value, err)
			}
		}
		for name, property := range def.Properties {
			if property.takesNull() {
				nulls++
				recode(name, "null")
			}
		}
		recode("zzNew", `{"zz":[null]}`)
	}
	if nulls <= 300 {
		t.Errorf("only %d members may be null", nulls)
	}
}
