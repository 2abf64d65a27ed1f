package workspace_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/workspace"
)

// Edit makes all replacements at once and literally, or none.
func TestEdit(t *testing.T) {
	type edits = []workspace.Replacement
	for name, c := range map[string]struct {
		text  string
		edits edits
		want  string
		fails *workspace.EditError // expected error, without the path
		says  string
	}{
		"one":                {text: "a b c", edits: edits{{"b", "x"}}, want: "a x c"},
		"removed":            {text: "a b c", edits: edits{{" b", ""}}, want: "a c"},
		"all of it":          {text: "a", edits: edits{{"a", "bb"}}, want: "bb"},
		"out of order":       {text: "a b c", edits: edits{{"c", "3"}, {"a", "1"}}, want: "1 b 3"},
		"side by side":       {text: "ab", edits: edits{{"a", "b"}, {"b", "a"}}, want: "ba"},
		"not of each other":  {text: "a b", edits: edits{{"a", "b"}, {"b", "c"}}, want: "b c"},
		"dollars":            {text: "a b", edits: edits{{"b", `$1 ${0} $$ \1 %s`}}, want: `a $1 ${0} $$ \1 %s`},
		"no expressions":     {text: "a.c abc", edits: edits{{"a.c", "x"}}, want: "x abc"},
		"crlf kept":          {text: "a\r\nb\r\n", edits: edits{{"a\r\nb", "c\nd"}}, want: "c\nd\r\n"},
		"white space":        {text: "\ta\n", edits: edits{{"\ta\n", " \n"}}, want: " \n"},
		"not there":          {text: "abc", edits: edits{{"a", "x"}, {"d", "x"}}, fails: &workspace.EditError{Index: 1}, says: "a was not changed: the old text of edit 2 does not occur in it"},
		"twice":              {text: "a a", edits: edits{{"a", "x"}}, fails: &workspace.EditError{Matches: 2}, says: "occurs 2 times"},
		"twice, overlapping": {text: "aaa", edits: edits{{"aa", "x"}}, fails: &workspace.EditError{Matches: 2}, says: "occurs 2 times"},
		"overlap":            {text: "abc", edits: edits{{"bc", "x"}, {"ab", "y"}}, fails: &workspace.EditError{Index: 0, Matches: 1}, says: "edit 1 overlaps"},
		"the same":           {text: "abc", edits: edits{{"b", "x"}, {"b", "x"}}, fails: &workspace.EditError{Index: 1, Matches: 1}, says: "edit 2 overlaps"},
		"empty":              {text: "abc", edits: edits{{"", "x"}}, fails: &workspace.EditError{}, says: "does not occur"},
		"crlf":               {text: "a\r\nb\r\n", edits: edits{{"a\nb", "x"}}, fails: &workspace.EditError{}, says: `end with \r\n`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, letters := range []string{"", "rw"} {
				f := open(t, letters, nil)
				f.put("a", c.text)
				f.setBuffer("a", c.text)
				file, err := f.Edit(t.Context(), "a", c.edits, workspace.VersionOf(c.text))
				if c.fails == nil {
					assert.Equal(t, c.want, text(file, err))
					continue
				}
				failure, ok := errors.AsType[*workspace.EditError](err)
				require.True(t, ok, err)
				assert.Equal(t, f.at("a"), failure.Path)
				assert.Equal(t, []int{c.fails.Index, c.fails.Matches}, []int{failure.Index, failure.Matches})
				assert.Contains(t, failure.Error(), c.says)
				assert.Equal(t, []string{c.text, c.text}, []string{f.disk("a"), f.buffer("a")})
			}
		})
	}
	f := open(t, "", nil)
	f.put("a", "one")
	_, err := f.Edit(t.Context(), "a", edits{{"one", "two"}}, workspace.VersionOf("older"))
	assert.ErrorIs(t, err, workspace.ErrStale)
}
