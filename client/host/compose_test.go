package host_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
)

// all has every method, so that one that slips through is seen.
type all struct {
	acp.TextFileReader
	acp.TextFileWriter
	acp.TerminalHost
	acp.Elicitor
	acp.ElicitationCompleter
	acp.ExtensionHandler
}

func (all) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }
func (all) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return nil, nil
}

func methods(t reflect.Type) (names []string) {
	for m := range t.Methods() {
		names = append(names, m.Name)
	}
	return names
}

// Each combination of parts has the methods of its parts and no others, and advertises
// exactly those.
func TestEveryCombination(t *testing.T) {
	roles := []reflect.Type{
		reflect.TypeFor[acp.TextFileReader](), reflect.TypeFor[acp.TextFileWriter](), reflect.TypeFor[acp.TerminalHost](),
		reflect.TypeFor[acp.Elicitor](), reflect.TypeFor[acp.ElicitationCompleter](),
	}
	every := all{}
	seen := map[reflect.Type]bool{}
	for bits := range 1 << len(roles) {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		want := methods(reflect.TypeFor[acp.Client]())
		var (
			r    acp.TextFileReader
			w    acp.TextFileWriter
			term acp.TerminalHost
			e    acp.Elicitor
			done acp.ElicitationCompleter
		)
		caps := &acp.ClientCapabilities{}
		fs := &acp.FileSystemCapabilities{}
		if on(0) {
			r, fs.ReadTextFile, caps.FS = every, true, fs
		}
		if on(1) {
			w, fs.WriteTextFile, caps.FS = every, true, fs
		}
		if on(2) {
			term, caps.Terminal = every, true
		}
		if on(3) {
			e, caps.Elicitation = every, &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}
		}
		if on(4) {
			done = every
			if on(3) {
				caps.Elicitation.URL = &acp.ElicitationURLCapabilities{}
			}
		}
		for i, role := range roles {
			if on(i) && (i != 4 || on(3)) {
				want = append(want, methods(role)...)
			}
		}
		c := host.Compose(every, r, w, term, e, done)
		slices.Sort(want)
		assert.Equal(t, want, methods(reflect.TypeOf(c)), "%05b", bits)
		assert.Equal(t, caps, client.Capabilities(c), "%05b", bits)
		seen[reflect.TypeOf(c)] = true
	}
	assert.Len(t, seen, 24)
}

// A type that overrides a method advertises what it would without that.
func TestOverridingKeepsCapabilities(t *testing.T) {
	every := all{}
	made := host.Compose(every, every, every, nil, nil, nil)
	assert.Equal(t, client.Capabilities(made), client.Capabilities(&editor{lender: made.(lender)}))
	_, runs := any(&editor{}).(acp.TerminalHost)
	assert.False(t, runs)
}
