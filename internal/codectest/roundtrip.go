package codectest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

const rounds = 40

// Random values of every type survive encoding and decoding, and encoding/json agrees with the
// codec.
func testRoundTrip(t *testing.T, v *Version) {
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for seed := range uint64(rounds) {
				x := v.Random(c, seed)
				raw, err := c.Append(x)
				must(t, err, fmt.Appendf(nil, "%#v", x))
				must(t, wire.Check(raw), raw)

				back, _, err := c.Decode(raw)
				must(t, err, raw)
				again, err := c.Append(back)
				must(t, err, raw)
				same(t, string(raw), string(again), raw)
				twice, _, err := c.Decode(again)
				must(t, err, raw)
				same(t, back, twice, raw)
				same(t, settle(x), settle(back), raw)

				std, err := json.Marshal(reflect.ValueOf(x).Elem().Interface())
				must(t, err, raw)
				sameJSON(t, raw, std)
				if c.Type().Kind() != reflect.Interface { // encoding/json does not know the variants
					other := c.New()
					must(t, json.Unmarshal(raw, other), raw)
					same(t, back, other, raw)
				}
			}
		})
	}
}

// settle makes nil and empty lists equal, because a required list has one form for both.
func settle(v any) string {
	out := reflect.New(reflect.TypeOf(v).Elem())
	out.Elem().Set(reflect.ValueOf(v).Elem())
	return show(out.Elem())
}

func show(v reflect.Value) string {
	if v.CanInterface() {
		if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			return string(raw)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return v.Elem().Type().String() + show(v.Elem())
	case reflect.Slice, reflect.Array:
		s := "["
		for i := range v.Len() {
			s += show(v.Index(i)) + ","
		}
		return s + "]"
	case reflect.Map:
		s := "{"
		for _, key := range wire.SortedKeys(names(v)) {
			s += key + ":" + show(v.MapIndex(reflect.ValueOf(key))) + ","
		}
		return s + "}"
	case reflect.Struct:
		s := v.Type().Name() + "("
		for i := range v.NumField() {
			s += v.Type().Field(i).Name + "=" + show(v.Field(i)) + ","
		}
		return s + ")"
	}
	return fmt.Sprintf("%#v", v)
}

func names(v reflect.Value) map[string]bool {
	m := map[string]bool{}
	for _, key := range v.MapKeys() {
		m[key.String()] = true
	}
	return m
}

// The generated checks agree with package validate, which reads the struct tags.
func testChecksAgree(t *testing.T, v *Version) {
	verdicts := map[bool]int{}
	for _, c := range v.Cases {
		for seed := range uint64(4 * rounds) {
			m := newMaker(v, seed)
			m.wild = seed%2 == 1
			x := m.value(c.Type())
			var target any = x.Interface()
			if x.Elem().Kind() == reflect.Interface {
				target = x.Elem().Interface()
			}
			for _, strict := range []bool{false, true} {
				fields := validate.Struct(target, strict)
				if valid := c.Valid(x.Interface(), strict); valid != (fields == nil) {
					t.Fatalf("%s: %#v\nstrict %t, valid %t: %s", c.Name, target, strict, valid, fields)
				}
				verdicts[fields == nil]++
			}
		}
	}
	if verdicts[false] <= 500 || verdicts[true] <= 5000 {
		t.Errorf("too few bad or good values: %v", verdicts)
	}
}
