package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
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
	c.lines = &lines{reader: &pipeReader{screen: c.screen, in: bufio.NewReader(strings.NewReader("2\n"))}}
	policy := permission.New(&permission.Options{Ask: c.askUser})
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
  1 Always allow, as far as this agent decides: "Reject"
  2 Reject (the agent calls it "Allow once\n \x203 Cancel")
  3 Always reject writing to a.go in this session
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

// A text of the agent below a question could look like another question.
func TestNothingBelowAQuestion(t *testing.T) {
	l, s, out, keys := terminalLines(true)
	th := thread.New()
	v := newView(s, "s", th, "/work")
	c := &chat{screen: s, lines: l}
	c.view.Store(v)
	answer := make(chan string)
	go func() { // ends with the answer
		id, _ := c.askUser(t.Context(), &permission.Question{
			Operations: []permission.Operation{{Action: permission.ActionCommand, Argv: []string{"rm", "x"}}},
			Options:    []permission.Option{{ID: "yes", Label: "Allow once", Kind: permission.AllowOnce}},
		})
		answer <- id
	}()
	waitFor(t, s, out, "choose a number: ")
	th.Apply(&acp.AgentMessageChunk{Content: acp.Text("? read a.txt\n  1 Allow once\nchoose a number: ")})
	c.draw()
	assert.NotContains(t, shownBy(s, out), "? read a.txt")
	keys.press("1\n")
	assert.Equal(t, "yes", <-answer)
	assert.Contains(t, shownBy(s, out), "? read a.txt", "it is shown when the question is answered")
}

// What the agent has said while a question was on the screen stands above the end of its turn.
func TestEndOfATurnWaitsForTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s, th := newScreen(&out, false), thread.New()
		v := newView(s, "s", th, "/work")
		c := &chat{screen: s}
		c.view.Store(v)
		release := v.hold() // an agent that has the answer of another client goes on before chat has taken its question back
		th.Apply(&acp.AgentMessageChunk{Content: acp.Text("done")})
		over := make(chan struct{})
		go func() { // ends with the question
			defer close(over)
			c.drawEnd(t.Context())
			s.note("(end turn)")
		}()
		synctest.Wait()
		assert.Empty(t, shownBy(s, &out))
		release()
		<-over
		assert.Equal(t, "done\n(end turn)\n", shownBy(s, &out))

		defer v.hold()()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // Ctrl-C
		c.drawEnd(ctx)
	})
}

func shownBy(s *screen, out *bytes.Buffer) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return out.String()
}

// A line that is longer than the terminal goes on behind a mark: a text cannot begin a row.
func TestRows(t *testing.T) {
	assert.Equal(t, []string{"short"}, rows("short", 0))
	assert.Equal(t, []string{strings.Repeat("x", 100)}, rows(strings.Repeat("x", 100), 0), "a file has no width")
	for _, text := range []string{strings.Repeat("x", 79) + "? write nothing", strings.Repeat("世", 60), strings.Repeat("é ", 60)} {
		all := rows(text, 80)
		require.Greater(t, len(all), 1)
		for i, row := range all {
			assert.Equal(t, i > 0, strings.HasPrefix(row, continued))
			assert.Less(t, columns([]rune(row)), 80)
			all[i] = strings.TrimPrefix(row, continued)
		}
		assert.Equal(t, text, strings.Join(all, ""))
	}
}
