package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/client/permission"
)

// The user sees what will happen, also where and with which variables.
func TestEffect(t *testing.T) {
	for want, o := range map[string]permission.Operation{
		"write /w/a":                         {Action: permission.ActionWrite, Path: "/w/a"},
		`run ["rm" "-r" "a b"]`:              {Action: permission.ActionCommand, Argv: []string{"rm", "-r", "a b"}, Cwd: "/w"},
		`run ["rm" "-r" "x"] in /w/sub`:      {Action: permission.ActionCommand, Argv: []string{"rm", "-r", "x"}, Cwd: "/w/sub"},
		"run rm -r *; ls in /v with PATH, X": {Action: permission.ActionCommand, Argv: []string{"rm -r *; ls"}, Shell: true, Cwd: "/v", Env: []string{"PATH", "X"}},
		"run make":                           {Action: permission.ActionCommand, Argv: []string{"make"}, Shell: true},
	} {
		assert.Equal(t, want, effect(o, "/w"))
	}
}
