package acp_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// bits lists every path of a capability type with a value in which only that bit,
// and the groups above it, are on.
func bits(t reflect.Type) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "_meta" {
			continue
		}
		with := func(v reflect.Value) reflect.Value {
			s := reflect.New(t).Elem()
			s.FieldByIndex(f.Index).Set(v)
			return s
		}
		switch {
		case f.Type.Kind() == reflect.Bool:
			all[name] = with(reflect.ValueOf(true))
		case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
			all[name] = with(reflect.New(f.Type.Elem()))
			for path, v := range bits(f.Type.Elem()) {
				p := reflect.New(f.Type.Elem())
				p.Elem().Set(v)
				all[name+"."+path] = with(p)
			}
		default: // a free-form marker
			all[name] = with(reflect.MakeMap(f.Type))
		}
	}
	return all
}

func TestHasKnowsEveryBit(t *testing.T) {
	check := func(has func(v reflect.Value, path string) bool, all map[string]reflect.Value) {
		for on, v := range all {
			for path := range all {
				want := path == on || strings.HasPrefix(on, path+".")
				if path == "elicitation" && on == "elicitation" {
					want = false // neither form
				}
				assert.Equal(t, want, has(v, path), "%s is on: %s", on, path)
			}
			assert.False(t, has(v, on+".x"), on)
			assert.False(t, has(v, "x."+on), on)
			assert.False(t, has(v, ""), on)
		}
	}
	check(func(v reflect.Value, path string) bool {
		c := v.Interface().(acp.AgentCapabilities)
		return c.Has(path)
	}, bits(reflect.TypeFor[acp.AgentCapabilities]()))
	check(func(v reflect.Value, path string) bool {
		c := v.Interface().(acp.ClientCapabilities)
		return c.Has(path)
	}, bits(reflect.TypeFor[acp.ClientCapabilities]()))
}

func TestHasOfNil(t *testing.T) {
	assert.False(t, (*acp.AgentCapabilities)(nil).Has("loadSession"))
	assert.False(t, (*acp.ClientCapabilities)(nil).Has("terminal"))
}

// Every capability that the method table names is one that Has can answer for.
func TestMethodTableNamesKnownCapabilities(t *testing.T) {
	agent, client := bits(reflect.TypeFor[acp.AgentCapabilities]()), bits(reflect.TypeFor[acp.ClientCapabilities]())
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Capability == "" {
			continue
		}
		switch m.Side {
		case wire.Agent:
			assert.Contains(t, agent, m.Capability, m.Name)
		case wire.Client:
			assert.Contains(t, client, m.Capability, m.Name)
		}
	}
}
