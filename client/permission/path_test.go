package permission_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// A path that cannot be resolved does not evade a rule that denies: a person is asked, even if a
// rule or the memory allows the tool.
func TestPathsThatAreNotResolvedAreAsked(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	below := filepath.ToSlash(dir) + "/no/../../x" // leads out of a folder that does not exist
	if filepath.VolumeName(dir) != "" {
		below = `\\?\` + dir + `\x`
	}
	deny := permission.Rule{Name: "deny", Decision: permission.Deny, Paths: []string{filepath.ToSlash(dir) + "/secret/**"}}
	commands := permission.Rule{Name: "commands", Decision: permission.Deny, Commands: []string{"rm"}}
	member := func(path string) permission.Tool {
		input, err := json.Marshal(map[string]string{"path": path})
		require.NoError(t, err)
		return permission.Tool{Name: "t", Input: input}
	}
	for name, c := range map[string]struct {
		rule permission.Rule
		tool permission.Tool
		by   permission.Reason
	}{
		"a diff":                            {deny, permission.Tool{Name: "t", Diffs: []permission.Diff{{Path: below}}}, permission.ByPerson},
		"a location":                        {deny, permission.Tool{Name: "t", Paths: []string{below}}, permission.ByPerson},
		"a location that is relative":       {deny, permission.Tool{Name: "t", Paths: []string{"open/a"}}, permission.ByPerson},
		"input":                             {deny, member(below), permission.ByPerson},
		"a folder that the tool may expand": {deny, member("~/x"), permission.ByPerson},
		"a variable":                        {deny, member("$HOME/x"), permission.ByPerson},
		"another path":                      {deny, member(filepath.Join(dir, "open/a")), permission.ByRule},
		"below the workspace":               {deny, member("open/a"), permission.ByRule},
		"a rule of commands":                {commands, member(below), permission.ByRule},
		"a rule of other tools":             {permission.Rule{Decision: permission.Deny, Tools: []string{"u"}, Paths: deny.Paths}, member(below), permission.ByRule},
	} {
		t.Run(name, func(t *testing.T) {
			allow := permission.Rule{Decision: permission.Allow, Tools: []string{"t"}}
			d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)}, allow, c.rule)
			for range 2 {
				q := question(c.tool)
				q.Workspace = dir
				o := d.Decide(t.Context(), q)
				assert.Equal(t, permission.Allow, o.Decision)
				assert.Equal(t, c.by, o.By)
			}
		})
	}
	t.Run("files that an extractor has found", func(t *testing.T) {
		extract := func(_ string, tool *permission.Tool) ([]permission.Operation, bool) {
			return []permission.Operation{{Action: permission.ActionWrite, Path: tool.Title}}, true
		}
		d := newTestScope(t, permission.Options{Extract: extract, Ask: pick(permission.AllowAlways)})
		d.Decide(t.Context(), question(permission.Tool{Title: below}))
		o := d.Decide(t.Context(), question(permission.Tool{Title: below + "y"}))
		assert.Equal(t, permission.ByPerson, o.By, "always was for another file")
	})
	t.Run("a relative path that is denied", func(t *testing.T) {
		d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, deny)
		for _, path := range []string{"secret/a", "./secret/a", "open/../secret/a"} {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "open"), 0o700))
			q := question(member(path))
			q.Workspace = dir
			assert.Equal(t, permission.ByRule, d.Decide(t.Context(), q).By, path)
		}
	})
}

// A rule that denies compares names as any file system may, also for files that do not exist. A rule that
// allows does not.
func TestSpellingsOfPaths(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		denied        bool
	}{
		{"/w/secret/**", "/w/secret/x", true},
		{"/w/secret/**", "/W/SECRET/x", true},
		{"/w/Secret/*.[A-C]", "/w/secret/x.b", true},
		{"/w/Ärger/*", "/w/ärger/x", true},
		{"/w/\u00c4rger/*", "/w/a\u0308rger/x", true},
		{"/w/caf\u00e9", "/w/cafe\u0301", true},
		{"/w/STRASSE/**", "/w/straße/x", true},
		{"/w/secret/**", "/w/se\u200ccret/x", true},
		{"/w/secret/**", "/w/secret./x", true},
		{"/w/*.key", "/w/A.KEY ", true},
		{"/w/secret/*", "/w/secret/a\uff0fb", true},
		{"/w/secret/**", "/w/secrets/x", false},
		{"/w/caf\u00e9", "/w/cafe", false},
	} {
		rules := []permission.Rule{{Decision: permission.Allow, Paths: []string{"/**"}}, {Decision: permission.Deny, Paths: []string{tt.pattern}}}
		d := newTestScope(t, permission.Options{}, rules...)
		assert.Equal(t, tt.denied, d.Authorize(t.Context(), write(tt.name, "")) != nil, "%s %q", tt.pattern, tt.name)
		d = newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Paths: []string{tt.pattern}})
		if runtime.GOOS != "windows" {
			exact := tt.name == "/w/secret/x" || tt.name == "/w/secret/a\uff0fb"
			assert.Equal(t, exact, d.Authorize(t.Context(), write(tt.name, "")) == nil, "%s %q", tt.pattern, tt.name)
		}
	}
}

// A pattern may name a folder by a path with a symlink.
func TestPatternsWithSymlinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lacks what the test needs: symlinks without a privilege")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"real/work/secret", "real/other"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	require.NoError(t, os.Symlink("real", filepath.Join(base, "alias")))
	act := func(path string) permission.Act { return write(base+"/real/"+path, "x") }

	d := newTestScope(t, permission.Options{},
		permission.Rule{Decision: permission.Allow, Paths: []string{base + "/real/**", base + "/alias/**", base + "/alias2/**"}},
		permission.Rule{Decision: permission.Deny, Paths: []string{base + "/alias/work/secret/**", base + "/alias/work/*.key", base + "/alias/work/later/**", base + "/alias/[x]/**"}},
	)
	for path, denied := range map[string]bool{
		"work/a": false, "work/new/a": false, "other/a": false, "x/a": true, "[x]/a": false,
		"work/secret/a": true, "work/secret/deep/a": true, "work/a.key": true, "work/later/a": true,
	} {
		err := d.Authorize(t.Context(), act(path))
		assert.Equal(t, denied, err != nil, "%s: %v", path, err)
	}

	// A symlink lets a rule that allows match nothing more, and a rule that denies match nothing
	// less.
	require.NoError(t, os.Symlink("/", filepath.Join(base, "alias2")))
	assert.Error(t, d.Authorize(t.Context(), write("/work/a", "x")))
	require.NoError(t, os.Remove(filepath.Join(base, "alias")))
	require.NoError(t, os.Symlink("/", filepath.Join(base, "alias")))
	assert.Error(t, d.Authorize(t.Context(), act("work/secret/a")))
	assert.Error(t, d.Authorize(t.Context(), write("/work/a", "x")))

	// Special characters in the name of a folder are literal.
	require.NoError(t, os.Mkdir(filepath.Join(base, `a[b]*\`), 0o700))
	require.NoError(t, os.Symlink(`a[b]*\`, filepath.Join(base, "odd")))
	d = newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow}, permission.Rule{Decision: permission.Deny, Paths: []string{base + "/odd/**"}})
	assert.Error(t, d.Authorize(t.Context(), write(base+`/a[b]*\/x`, "x")))
	assert.NoError(t, d.Authorize(t.Context(), write(base+`/abc\/x`, "x")))
}

// To match costs at most the length of the pattern times that of the path, whatever they contain.
func TestCostOfPatterns(t *testing.T) {
	const short, times, enough = 400, 8, 3
	paths := func(n int) string { return "/" + strings.Repeat("a/", n/2) + "x" }
	for _, pattern := range []string{"/**/a/**/b/**", "/" + strings.Repeat("**/a/", 40) + "b", "/" + strings.Repeat("**/*a*/", 20) + "b", "/**/" + strings.Repeat("*a", 100) + "b"} {
		d := newTestScope(t, permission.Options{},
			permission.Rule{Decision: permission.Allow, Paths: []string{pattern}},
			permission.Rule{Decision: permission.Deny, Paths: []string{pattern}},
		)
		took := func(times, n int) float64 {
			begin, a := time.Now(), write(paths(n), "")
			for range times {
				assert.Error(t, d.Authorize(t.Context(), a))
			}
			return time.Since(begin).Seconds()
		}
		best := math.Inf(1)
		for round := 0; round < 20 && best > enough; round++ {
			best = min(best, took(1, times*short)/took(times, short))
		}
		t.Logf("%.2f", best)
		assert.LessOrEqual(t, best, float64(enough), pattern)
	}
}

// A path that is longer than any system permits is not resolved, which would cost more than its length.
func TestLongPathsAreNotResolved(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, permission.Rule{Decision: permission.Deny, Paths: []string{"/w/**"}})
	o := d.Decide(t.Context(), question(permission.Tool{Paths: []string{on("/" + strings.Repeat("./", 4096) + "tmp")}}))
	assert.Equal(t, permission.ByPerson, o.By)
	assert.Empty(t, d.last().Question.Operations[0].Path)
}

// Within names the files of one folder, whatever its name is, and of no other.
func TestWithin(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		dir, pattern, file string
		want               bool
	}{
		"a file":                  {"a", "**", "a/x.go", true},
		"a file in a folder":      {"a", "**", "a/b/x.go", true},
		"of another kind":         {"a", "*.go", "a/x.txt", false},
		"beside it":               {"a", "**", "ab/x.go", false},
		"above it":                {"a", "**", "x.go", false},
		"a guarded file":          {"a", "**", "a/.git/config", false},
		"brackets":                {"a[1]", "**", "a[1]/x.go", true},
		"what brackets match":     {"a[1]", "**", "a1/x.go", false},
		"a folder of a folder":    {"a[1]/b[c-", "*", "a[1]/b[c-/x.go", true},
		"a folder that is to be":  {"new", "**", "new/x.go", true},
		"a path that is not tidy": {"a/../b/", "**", "b/x.go", true},
	} {
		t.Run(name, func(t *testing.T) {
			within, err := permission.Within(filepath.Join(top, filepath.FromSlash(c.dir)), c.pattern)
			require.NoError(t, err)
			d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Paths: []string{within}})
			file := filepath.Join(top, filepath.FromSlash(c.file))
			err = d.Authorize(t.Context(), permission.Act{Operation: permission.Operation{Action: permission.ActionWrite, Path: file}})
			assert.Equal(t, c.want, err == nil, "%s: %v", within, err)
		})
	}
	t.Run("a relative folder", func(t *testing.T) {
		t.Chdir(top)
		within, err := permission.Within(".", "**")
		require.NoError(t, err)
		assert.Equal(t, filepath.ToSlash(top)+"/**", within)
	})
	t.Run("a path that cannot be resolved", func(t *testing.T) {
		_, err := permission.Within(filepath.Join(top, strings.Repeat("x", 5000)), "**")
		assert.ErrorContains(t, err, "xxx")
	})
}
