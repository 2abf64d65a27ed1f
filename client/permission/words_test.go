package permission_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// asks returns the question that a person is asked.
func asks(t *testing.T, opts permission.Options, ask func(*permission.Scope)) *permission.Question {
	t.Helper()
	var asked *permission.Question
	opts.Ask = func(_ context.Context, q *permission.Question) (string, error) {
		asked = q
		return "", nil
	}
	d := newTestScope(t, opts)
	ask(d.Scope)
	require.NotNil(t, asked)
	return asked
}

func labels(q *permission.Question) (all []string) {
	for _, o := range q.Options {
		all = append(all, o.Label)
	}
	return all
}

// The label tells the effect of an option, because an agent may name a rejection "always".
func TestLabelsSayWhatAnOptionDoes(t *testing.T) {
	const once, no = "Allow once", "Reject"
	lie := []permission.Option{{ID: "1", Name: "Reject", Kind: permission.AllowAlways}, {ID: "2", Name: "Allow once", Kind: permission.RejectAlways},
		{ID: "3", Name: "Cancel", Kind: permission.AllowOnce}, {ID: "4", Name: "Yes", Kind: permission.RejectOnce}, {ID: "5", Name: "Reject", Kind: "allow_all"}}
	const unknown = "Something that only the agent knows; it allows nothing here"
	text := "x"
	decide := func(tool *permission.Tool) func(*permission.Scope) {
		return func(s *permission.Scope) {
			q := question(permission.Tool{})
			q.Workspace, q.Tool, q.Options = on("/w"), tool, lie
			s.Decide(t.Context(), q)
		}
	}
	const theirs, theirNo = `Always allow, as far as this agent decides: "Reject"`, `Always reject, as far as this agent decides: "Allow once"`
	ways := func(what string) []string {
		return []string{theirs, theirNo, once, no, unknown, "Always allow " + what, "Always reject " + what}
	}
	for name, c := range map[string]struct {
		opts permission.Options
		ask  func(*permission.Scope)
		want []string
	}{
		"a write": {permission.Options{}, decide(&permission.Tool{Diffs: []permission.Diff{{Path: on("/w/a.go"), NewText: &text}}}), ways("writing to a.go in this session")},
		"elsewhere": {permission.Options{}, decide(&permission.Tool{Diffs: []permission.Diff{{Path: on("/v/a.go"), NewText: &text}}}),
			ways("writing to " + resolved("/v/a.go") + " in this session")},
		"two writes": {permission.Options{}, decide(&permission.Tool{Diffs: []permission.Diff{{Path: on("/w/a"), NewText: &text}, {Path: on("/w/b"), NewText: &text}}}),
			ways("these 2 operations in this session")},
		"a tool": {permission.Options{}, decide(&permission.Tool{Name: "fetch\n1 Reject", Input: []byte(`{"x":1}`)}),
			ways(`"fetch\n1 Reject" with this input in this session`)},
		"a file, and more": {permission.Options{}, decide(&permission.Tool{Name: "edit", Input: []byte(`{"path":"` + on("/w/a.go") + `","then":"rm"}`), Diffs: []permission.Diff{{Path: on("/w/a.go"), NewText: &text}}}),
			ways(`writing to a.go, and "edit" with this input in this session`)},
		"nothing known": {permission.Options{}, decide(&permission.Tool{}), []string{theirs, theirNo, once, no, unknown}},
		"a memory that is shared": {permission.Options{Memory: &shared{kept: map[permission.Key]permission.Decision{}}},
			decide(&permission.Tool{Diffs: []permission.Diff{{Path: on("/w/a.go"), NewText: &text}}}), ways("writing to a.go in all sessions of this folder")},
		"an act": {permission.Options{}, func(s *permission.Scope) { _ = s.Authorize(t.Context(), command("go", "test", "a b")) },
			[]string{once, "Always allow running go test 'a b' in this session", no, "Always reject running go test 'a b' in this session"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, labels(asks(t, c.opts, c.ask))) })
	}
}

// No text of the agent begins or ends a line of a question.
func TestLinesOfAQuestion(t *testing.T) {
	text := "x"
	evil := "Edit a\n? write /w/b\r\x1b[2K\u202e\u2028\x80  end \"of\" it"
	const shown = `the agent asks: "Edit a\n? write /w/b\r\x1b[2K\u202e\u2028\x80 \x20end \"of\" it"`
	for name, c := range map[string]struct {
		ask  func(*permission.Scope)
		want []string
	}{
		"a title": {func(s *permission.Scope) {
			q := question(permission.Tool{Title: evil, Diffs: []permission.Diff{{Path: on("/w/a\nb"), NewText: &text}}})
			q.Description = "why\nnot"
			s.Decide(t.Context(), q)
		}, []string{shown, `the agent adds: "why\nnot"`, `write ` + resolved(`/w/`) + `a\nb`}},
		"no title": {func(s *permission.Scope) { s.Decide(t.Context(), question(permission.Tool{ID: "1\n2"})) },
			[]string{`the agent asks about its tool call "1\n2"`, "(the agent did not say what it will do)"}},
		"nothing": {func(s *permission.Scope) { s.Decide(t.Context(), &permission.Question{Options: usual}) },
			[]string{"the agent asks without a text", "(the agent did not say what it will do)"}},
		"no path": {func(s *permission.Scope) {
			s.Decide(t.Context(), question(permission.Tool{Title: "T", Paths: []string{"a"}}))
		},
			[]string{`the agent asks: "T"`, "write a file whose path cannot be resolved"}},
		"an act":        {func(s *permission.Scope) { _ = s.Authorize(t.Context(), write(on("/w/a"), "x")) }, []string{"write " + on("/w/a")}},
		"a line":        {func(s *permission.Scope) { _ = s.Authorize(t.Context(), shell("ls\nrm x")) }, []string{`run ls ⏎ rm x`}},
		"a literal \\n": {func(s *permission.Scope) { _ = s.Authorize(t.Context(), shell(`printf a\nb`)) }, []string{`run printf a\nb`}},
		"a words":       {func(s *permission.Scope) { _ = s.Authorize(t.Context(), command("ls", "a b", "", "it's", "\n")) }, []string{`run ls 'a b' '' 'it\'s' ' ⏎ '`}},
		"elsewhere, with variables": {func(s *permission.Scope) {
			a := command("ls")
			a.Operation.Cwd, a.Operation.Env = "/v", []string{"PATH", "X"}
			_ = s.Authorize(t.Context(), a)
		}, []string{"run ls in /v with PATH, X"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, asks(t, permission.Options{}, c.ask).Lines()) })
	}
}

// Nobody can read a very long command: it is denied, and the person is not asked. What is left out of a text
// of the agent is counted.
func TestQuestionsThatNobodyCanRead(t *testing.T) {
	ask := func(_ context.Context, q *permission.Question) (string, error) {
		return q.Pick(permission.AllowOnce), nil
	}
	for name, act := range map[string]permission.Act{
		"an argument": command("echo", strings.Repeat("x", 17<<10)), "a line": shell("echo " + strings.Repeat("x ", 9<<10)),
		"many arguments": command(strings.Split(strings.Repeat("x ", 9<<10), " ")...), "escapes": command("echo", strings.Repeat("\x01", 5<<10)),
		"variables": {Session: "s", Workspace: "/w", Turn: 1, Operation: command("ls").Operation, Variables: []permission.Variable{{Name: "X", Value: strings.Repeat("x", 17<<10)}}},
	} {
		d := newTestScope(t, permission.Options{Ask: ask})
		var denied *permission.DeniedError
		if assert.ErrorAs(t, d.Authorize(t.Context(), act), &denied, name) {
			assert.Equal(t, permission.ByLength, denied.By, name)
			assert.Contains(t, denied.RequestError().Message, "too long for a person to read", name)
		}
		assert.Zero(t, d.timesAsked(), name)
	}
	d := newTestScope(t, permission.Options{Ask: ask})
	var before, after runtime.MemStats
	huge := command("echo", strings.Repeat("\x01", 8<<20))
	runtime.ReadMemStats(&before)
	assert.Error(t, d.Authorize(t.Context(), huge))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20<<20), "it is compared, and not made printable")
	many := question(permission.Tool{ID: "c"})
	for i := range 40 {
		many.Options = append(many.Options[:len(many.Options):len(many.Options)], permission.Option{ID: strconv.Itoa(i), Name: "Reject", Kind: permission.AllowOnce})
	}
	assert.Equal(t, permission.ByLength, d.Decide(t.Context(), many).By, "the options would push the question out of sight")
	assert.Zero(t, d.timesAsked())
	assert.NoError(t, d.Authorize(t.Context(), command("echo", strings.Repeat("x", 16000))))
	o := d.Decide(t.Context(), &permission.Question{Session: "s", Workspace: "/w", Turn: 1, Command: "echo " + strings.Repeat("x", 17<<10), Cwd: "/w", Options: usual})
	assert.Equal(t, permission.Outcome{Decision: permission.Deny, OptionID: "id of reject_once", By: permission.ByLength}, o)
	assert.Equal(t, 1, d.timesAsked())

	q := asks(t, permission.Options{}, func(s *permission.Scope) {
		q := question(permission.Tool{ID: "c"})
		q.Title = strings.Repeat("x", 3000)
		s.Decide(t.Context(), q)
	})
	assert.True(t, strings.HasSuffix(q.Lines()[0], `x..." (1000 bytes more are not shown)`), q.Lines()[0])
}
