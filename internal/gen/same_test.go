package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A type is an alias as long as it is the same down to the last type that it refers to.
func TestSame(t *testing.T) {
	v, err := versions[1].load(root)
	require.NoError(t, err)
	aliases := func() map[string]bool {
		v.markSame(v.older)
		names := map[string]bool{}
		for _, x := range v.Types {
			names[x.Name] = x.Alias
		}
		return names
	}
	names := aliases()
	assert.True(t, names["AuthState"] && names["AuthAccount"] && names["AuthStatusUpdateNotification"] && names["MessageMCPResponse"])
	assert.False(t, names["ContentBlock"], "version 2 refuses a URI without a scheme")
	assert.False(t, names["Terminal"], "a variant of a union of its own")
	assert.False(t, names["ElicitationAcceptAction"], "a value of a form may be of any kind")

	for name, change := range map[string]func(old *vocabulary) func(){
		"a value": func(old *vocabulary) func() {
			value := &old.byName["AuthState"].Values[0].Value
			kept := *value
			*value = "another"
			return func() { *value = kept }
		},
		"a rule": func(old *vocabulary) func() {
			f := old.byName["AuthAccount"].Fields[0]
			f.Rule = "uri"
			return func() { f.Rule = "" }
		},
	} {
		restore := change(v.older)
		changed := aliases()
		assert.False(t, changed["AuthStatusUpdateNotification"] || changed["AuthStatusResponse"], name)
		assert.True(t, changed["PermissionOption"], name)
		restore()
	}
	assert.Equal(t, names, aliases())
}
