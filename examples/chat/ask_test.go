package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// An agent that does not ask, or writes something else than it has shown: the user sees what
// would be written before it is.
func TestWriteWithoutAQuestion(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	got := say(t, settings{dir: dir}, ":mode auto\nwrite a.txt: three\n1\n")
	_, question, found := strings.Cut(got, "? write "+filepath.Join(dir, "a.txt")+"\n")
	require.True(t, found, got)
	question, _, _ = strings.Cut(question, "Allow once")
	for _, want := range []string{"a.txt  +1 -2\n", "  - one\n", "  - two\n", "  + three\n"} {
		assert.Contains(t, question, want)
	}
	after, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	require.NoError(t, err)
	assert.Equal(t, "three", strings.TrimSpace(string(after)))
}

// A flag is no choice of "always": agents keep that for later sessions.
func TestFlagsThatAnswer(t *testing.T) {
	options := func(kinds ...string) (all []permission.Option) {
		for _, kind := range kinds {
			all = append(all, permission.Option{ID: kind, Name: kind, Kind: kind})
		}
		return all
	}
	all := options(permission.AllowAlways, permission.RejectAlways, permission.AllowOnce, permission.RejectOnce)
	always := options(permission.AllowAlways, permission.RejectAlways)
	for _, tt := range []struct {
		flags   settings
		options []permission.Option
		want    string
	}{
		{settings{yes: true}, all, permission.AllowOnce},
		{settings{yes: true}, always, ""},
		{settings{no: true}, all, permission.RejectOnce},
		{settings{no: true}, always, ""},
	} {
		c := &chat{settings: tt.flags, screen: newScreen(io.Discard, false)}
		got, err := c.askUser(t.Context(), &permission.Question{Title: "May I?", Options: tt.options})
		require.NoError(t, err)
		assert.Equal(t, tt.want, got)
	}
}

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
