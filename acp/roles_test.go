package acp_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// The interfaces of both roles, without those for extensions.
var (
	agentRoles = []reflect.Type{
		reflect.TypeFor[acp.Agent](), reflect.TypeFor[acp.Authenticator](), reflect.TypeFor[acp.LogoutHandler](),
		reflect.TypeFor[acp.SessionLoader](), reflect.TypeFor[acp.SessionResumer](), reflect.TypeFor[acp.SessionLister](),
		reflect.TypeFor[acp.SessionDeleter](), reflect.TypeFor[acp.SessionCloser](), reflect.TypeFor[acp.SessionModeSetter](),
		reflect.TypeFor[acp.SessionConfigOptionSetter](),
	}
	unstableAgentRoles = []reflect.Type{
		reflect.TypeFor[acp.ProviderManager](), reflect.TypeFor[acp.SessionForker](), reflect.TypeFor[acp.SessionArchiver](),
		reflect.TypeFor[acp.SessionStatusReporter](), reflect.TypeFor[acp.SessionOptionsReporter](), reflect.TypeFor[acp.SessionTitleSetter](),
		reflect.TypeFor[acp.AuthStatusReporter](), reflect.TypeFor[acp.MCPNotificationHandler](),
	}
	clientRoles = []reflect.Type{
		reflect.TypeFor[acp.Client](), reflect.TypeFor[acp.TextFileReader](), reflect.TypeFor[acp.TextFileWriter](),
		reflect.TypeFor[acp.TerminalHost](), reflect.TypeFor[acp.Elicitor](), reflect.TypeFor[acp.ElicitationCompleter](),
	}
	unstableClientRoles = []reflect.Type{
		reflect.TypeFor[acp.AuthStatusUpdater](), reflect.TypeFor[acp.MCPMessageHandler](),
	}
)

// roleMethod is one method of a role.
type roleMethod struct {
	name     string
	side     wire.Side
	unstable bool
	fn       reflect.Type
}

func roleMethods() []roleMethod {
	var all []roleMethod
	add := func(side wire.Side, unstable bool, roles []reflect.Type) {
		for _, role := range roles {
			for m := range role.Methods() {
				all = append(all, roleMethod{m.Name, side, unstable, m.Type})
			}
		}
	}
	add(wire.Agent, false, agentRoles)
	add(wire.Agent, true, unstableAgentRoles)
	add(wire.Client, false, clientRoles)
	add(wire.Client, true, unstableClientRoles)
	return all
}

func TestRoleMethodsHaveOneForm(t *testing.T) {
	for _, m := range roleMethods() {
		t.Run(m.name, func(t *testing.T) {
			require.Equal(t, 2, m.fn.NumIn())
			assert.Equal(t, reflect.TypeFor[context.Context](), m.fn.In(0))
			require.Equal(t, reflect.Pointer, m.fn.In(1).Kind())
			params := m.fn.In(1).Elem().Name()
			assert.Equal(t, reflect.TypeFor[error](), m.fn.Out(m.fn.NumOut()-1))
			if m.fn.NumOut() == 1 {
				assert.True(t, strings.HasSuffix(params, "Notification"), params)
				return
			}
			require.Equal(t, 2, m.fn.NumOut())
			assert.Equal(t, m.name+"Request", params)
			require.Equal(t, reflect.Pointer, m.fn.Out(0).Kind())
			assert.Equal(t, m.name+"Response", m.fn.Out(0).Elem().Name())
		})
	}
}

// Every row of the method table belongs to one method of a role with the same types.
func TestRolesCoverTheMethodTable(t *testing.T) {
	roles := roleMethods()
	used := map[string]bool{}
	for _, row := range wire.Methods(acp.ProtocolVersion) {
		if row.Side == wire.Proxy || row.Side == wire.Protocol {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			var found []roleMethod
			for _, m := range roles {
				if m.side == row.Side && row.Params.Is(reflect.New(m.fn.In(1).Elem()).Interface()) {
					found = append(found, m)
				}
			}
			require.Len(t, found, 1)
			m := found[0]
			used[m.name] = true
			assert.Equal(t, row.Unstable, m.unstable, "unstable")
			assert.Equal(t, row.Notification, m.fn.NumOut() == 1, "notification")
			if !row.Notification {
				assert.True(t, row.Result.Is(reflect.New(m.fn.Out(0).Elem()).Interface()), "result")
			}
		})
	}
	for _, m := range roles {
		assert.True(t, used[m.name], "%s is no method of the protocol", m.name)
	}
}

func TestMethodNames(t *testing.T) {
	n := 0
	for _, row := range wire.Methods(acp.ProtocolVersion) {
		if !row.Unstable {
			n++
		}
	}
	assert.Equal(t, 25, n, "stable methods")
}

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

// Has knows every capability of the method table.
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
