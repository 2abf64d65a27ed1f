package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
)

// If an agent does not ask, or writes another text than it has shown, the user sees the text
// before it is written.
func TestWriteWithoutAQuestion(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	got := converse(t, settings{dir: dir}, ":mode auto\nwrite a.txt: three\n1\n")
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

// A flag never chooses "always", because agents store that for later sessions.
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

// An agent may give its options and titles any names. The menu tells what each choice does, and
// an agent cannot add a line to it.
func TestRejectThatAlwaysAllows(t *testing.T) {
	var out bytes.Buffer
	c := &chat{screen: newScreen(&out, false)}
	c.lines = &lines{reader: &plainReader{screen: c.screen, in: bufio.NewReader(strings.NewReader("2\n"))}}
	policy, err := permission.New(&permission.Options{Ask: c.askUser})
	require.NoError(t, err)
	dir := t.TempDir()
	text := "x"
	policy.Scope().Decide(t.Context(), &permission.Question{
		Session: "s", Workspace: dir, Tool: &permission.Tool{Diffs: []permission.Diff{{Path: filepath.Join(dir, "a.go"), NewText: &text}}},
		Title:   "Look at it\n? write nothing\n  1 Allow once",
		Options: []permission.Option{{ID: "1", Name: "Reject", Kind: permission.AllowAlways}, {ID: "2", Name: "Allow once\n  3 Cancel", Kind: permission.RejectOnce}},
	})
	file, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	assert.Equal(t, `? the agent asks: "Look at it\n? write nothing\n \x201 Allow once"
? write `+filepath.Join(file, "a.go")+`
  1 Always allow writing to a.go in this session (the agent calls it "Reject")
  2 Reject (the agent calls it "Allow once\n  3 Cancel")
choose a number: `, out.String())
}

// A name that the agent gives never takes more than one line.
func TestNamesOfAnAgentAreOneLine(t *testing.T) {
	const evil = "Edit\n? write /w/a\u202e"
	v, th, out := look("/work", false)
	th.Apply(&acp.ToolCall{ToolCallID: "1", Title: evil, Content: []acp.ToolCallContent{&acp.Diff{Path: "/x/" + evil, NewText: "\tone\n"}}})
	th.Apply(&acp.Notice{Severity: "info", Title: evil})
	th.Apply(&acp.Plan{Entries: []acp.PlanEntry{{Content: evil}}})
	v.draw()
	assert.NotContains(t, out.String(), "\n? write")
	assert.Equal(t, 4, strings.Count(out.String(), `Edit\n? write /w/a\u202e`), out.String())
	assert.Contains(t, out.String(), "  + \tone\n")
}
