// Copied to acp/v2 by go generate.

package acp_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

const rounds = 40

// Random values of every type survive encoding and decoding, and encoding/json agrees with the
// codec.
func TestRoundTrip(t *testing.T) {
	for _, c := range acp.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for seed := range uint64(rounds) {
				v := newMaker(seed).value(typeOf(c)).Interface()
				raw, err := c.Append(v)
				require.NoError(t, err, "%#v", v)
				require.NoError(t, wire.Check(raw), "%s", raw)

				back, _, err := c.Decode(raw)
				require.NoError(t, err, "%s", raw)
				again, err := c.Append(back)
				require.NoError(t, err)
				require.Equal(t, string(raw), string(again))
				same, _, err := c.Decode(again)
				require.NoError(t, err)
				require.Equal(t, back, same)
				require.Equal(t, settle(v), settle(back), "%s", raw)

				std, err := json.Marshal(reflect.ValueOf(v).Elem().Interface())
				require.NoError(t, err)
				require.JSONEq(t, string(raw), string(std))
				if reflect.TypeOf(v).Elem().Kind() != reflect.Interface { // encoding/json does not know the variants
					other := c.New()
					require.NoError(t, json.Unmarshal(raw, other))
					require.Equal(t, back, other)
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
func TestChecksAgree(t *testing.T) {
	verdicts := map[bool]int{}
	for _, c := range acp.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for seed := range uint64(4 * rounds) {
				m := newMaker(seed)
				m.wild = seed%2 == 1
				v := m.value(typeOf(c)).Interface()
				for _, strict := range []bool{false, true} {
					var target any = v
					if u := reflect.ValueOf(v).Elem(); u.Kind() == reflect.Interface {
						target = u.Interface()
					}
					fields := validate.Struct(target, strict)
					require.Equal(t, fields == nil, c.Valid(v, strict), "%#v\nstrict %t: %s", v, strict, fields)
					verdicts[fields == nil]++
				}
			}
		})
	}
	require.Greater(t, verdicts[false], 500, "too few bad values")
	require.Greater(t, verdicts[true], 5000, "too few good values")
}

// typeOf is the type of a case's values.
func typeOf(c acp.Case) reflect.Type { return reflect.TypeOf(c.New()).Elem() }
