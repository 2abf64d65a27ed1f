//go:build unix

package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/workspace"
)

// Search finds lines and files in texts below the roots, and nothing outside of them.
func TestSearch(t *testing.T) {
	f := open(t, "", nil)
	f.put("a.go", "package a\r\n\r\nfunc A() {} // $x\r\n")
	f.put("b/b.go", "package b\nfunc B() {}\n")
	f.put("b/c.txt", "func in a text")
	f.put(".git/config.go", "func hidden")
	f.put("binary.go", "func \x00")
	f.put("large.go", "func large\n"+strings.Repeat("x", 1<<20))
	f.put("z/long.txt", "long "+strings.Repeat("ü", 400))
	require.NoError(t, os.Symlink(filepath.Dir(f.secret), f.at("up")))
	require.NoError(t, os.Symlink(f.secret, f.at("link")))
	require.NoError(t, syscall.Mkfifo(f.at("fifo.go"), 0o644))
	search := func(q workspace.Query) (all []string) {
		found, more, err := f.Search(t.Context(), q)
		require.NoError(t, err)
		assert.False(t, more)
		for _, m := range found {
			all = append(all, strings.TrimPrefix(m.Path, f.root+"/")+":"+strings.Repeat("|", int(m.Line))+m.Text)
		}
		return all
	}
	assert.Equal(t, []string{"a.go:|||func A() {} // $x", "b/b.go:||func B() {}", "b/c.txt:|func in a text"}, search(workspace.Query{Pattern: "func"}))
	assert.Equal(t, []string{"a.go:|||func A() {} // $x", "b/b.go:||func B() {}"}, search(workspace.Query{Pattern: `(?i)^FUNC .\(\) \{\}`, Name: "*.go"}))
	assert.Equal(t, []string{"a.go:|||func A() {} // $x"}, search(workspace.Query{Pattern: "() {} // $x", Literal: true}))
	assert.Equal(t, []string{"a.go:|||func A() {} // $x"}, search(workspace.Query{Pattern: "x$"})[:1], "lines end before \\r\\n")
	assert.Equal(t, []string{"b/b.go:||func B() {}", "b/c.txt:|func in a text"}, search(workspace.Query{Pattern: "func", Path: "b"}))
	assert.Equal(t, []string{"b/c.txt:|func in a text"}, search(workspace.Query{Pattern: "func", Path: f.at("b/c.txt")}))
	assert.Equal(t, []string{"a.go:", "b/b.go:", "binary.go:", "large.go:"}, search(workspace.Query{Name: "*.go"}))
	assert.Empty(t, search(workspace.Query{Pattern: "secret"}))
	long := search(workspace.Query{Pattern: "long"})[0]
	assert.Less(t, utf8.RuneCountInString(long), 330)
	assert.True(t, utf8.ValidString(long))
	for path, want := range map[string]error{"..": workspace.ErrOutside, "up": workspace.ErrOutside, "link": workspace.ErrOutside, "none": os.ErrNotExist, "fifo.go": workspace.ErrNotFile} {
		_, _, err := f.Search(t.Context(), workspace.Query{Pattern: "x", Path: path})
		assert.ErrorIs(t, err, want, path)
	}
	_, _, err := f.Search(t.Context(), workspace.Query{Pattern: "("})
	assert.ErrorIs(t, err, workspace.ErrPattern)
	assert.ErrorContains(t, err, "missing closing )")
	_, _, err = f.Search(t.Context(), workspace.Query{Pattern: "func", Name: "[a"})
	assert.ErrorIs(t, err, workspace.ErrPattern)
	assert.ErrorContains(t, err, "[a: not a valid pattern of names")
	_, _, err = f.Search(t.Context(), workspace.Query{Name: "["})
	assert.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = f.Search(ctx, workspace.Query{Pattern: "x"})
	assert.ErrorIs(t, err, context.Canceled)
}

// A search stops at its limits.
func TestSearchIsBounded(t *testing.T) {
	f := open(t, "", nil)
	for i := range 300 {
		f.put(fmt.Sprintf("%03d", i), "x\n")
	}
	found, more, err := f.Search(t.Context(), workspace.Query{Pattern: "x"})
	require.NoError(t, err)
	assert.True(t, more)
	assert.Len(t, found, 200)
	assert.Equal(t, f.at("199"), found[199].Path)
}

// A search skips what git ignores: by the rules of each folder and of the folders above it, the last one
// that matches. It looks into an ignored folder that is named.
func TestSearchSkipsWhatGitIgnores(t *testing.T) {
	f := open(t, "", nil)
	rules := map[string]string{
		".gitignore":       "# comment\nnode_modules/\n*.o\n!keep.o\n/top\nsub/dir\n**/deep/x\na/**/z\nesc\\*\n[ab].c\n!(odd\n[[:digit:]]n\n?.u\n[!a]v\n[[:punct:]]p\n/s/****/t\n",
		"pkg/.gitignore":   "*.go\r\n!main.go\n",
		"other/.gitignore": "!*.o\n",
	}
	for name, text := range rules {
		f.put(name, text)
	}
	kept := []string{"a.txt", "keep.o", "sub/top", "x/sub/dir/f", "deep/y", "a/b/q", "esc1", "c.c", "pkg/main.go", "other/x.o", "pkg/dir/main.go", "node_modules.txt", "xn", "é.u", "av", "év", "Ap", "t/t"}
	ignored := []string{"x.o", "top", "sub/dir/f", "q/deep/x", "deep/x", "a/z", "a/b/c/z", "esc*", "a.c", "pkg/x.go", "pkg/dir/x.go", "node_modules/keep.o", "7n", "x.u", "bv", "-p", "[p", "s/a/b/t"}
	for i := range 300 {
		ignored = append(ignored, fmt.Sprintf("node_modules/m%d/index.js", i))
	}
	for _, name := range slices.Concat(kept, ignored) {
		f.put(name, "needle\n")
	}
	found := func(q workspace.Query) (names []string) {
		all, more, err := f.Search(t.Context(), q)
		require.NoError(t, err)
		assert.False(t, more)
		for _, m := range all {
			name, err := filepath.Rel(f.root, m.Path)
			require.NoError(t, err)
			names = append(names, filepath.ToSlash(name))
		}
		slices.Sort(names)
		return names
	}
	slices.Sort(kept)
	assert.Equal(t, kept, found(workspace.Query{Pattern: "needle"}))
	assert.Equal(t, []string{"node_modules/m7/index.js"}, found(workspace.Query{Pattern: "needle", Path: "node_modules/m7"}))
	assert.Empty(t, found(workspace.Query{Pattern: "needle", Path: "pkg", Name: "x.go"}))
	require.NoError(t, os.Mkdir(f.at(".git"), 0o755))
	assert.Empty(t, found(workspace.Query{Pattern: "needle", Path: "other", Name: "none"}))
	f.put("inner/y.o", "needle\n")
	assert.Empty(t, found(workspace.Query{Pattern: "needle", Path: "inner"}), "the rules of the folder above, in a repository")
	f.put(".git/info/exclude", "av\n*.txt\n!x.u\n")
	kept = slices.DeleteFunc(kept, func(name string) bool { return name == "av" || strings.HasSuffix(name, ".txt") })
	assert.Equal(t, kept, found(workspace.Query{Pattern: "needle"}), "what only this clone ignores")
}

// Windows editors begin a file with a byte order mark. The rules of a folder above the root count in a
// repository only.
func TestSearchByIgnoreFilesOfOthers(t *testing.T) {
	f := open(t, "", nil)
	f.put(".gitignore", "\ufeff*.o\n")
	f.put("../.gitignore", "*\n")
	f.put("a.o", "needle\n")
	f.put("a.txt", "needle\n")
	search := func() (names []string) {
		all, _, err := f.Search(t.Context(), workspace.Query{Pattern: "needle"})
		require.NoError(t, err)
		for _, m := range all {
			names = append(names, filepath.Base(m.Path))
		}
		return names
	}
	assert.Equal(t, []string{"a.txt"}, search())
	require.NoError(t, os.Mkdir(f.at("../.git"), 0o755))
	assert.Empty(t, search())
}

// The lines that a search finds are those that the expression matches, however it is written.
func TestSearchFindsWhatMatches(t *testing.T) {
	f := open(t, "", nil)
	lines := []string{"", "Hello World", "hello", "HELLO\r", "ſtreet", "Kelvin \u212a", "a.b", "ab", "x" + strings.Repeat("y", 70_000) + "Hello", "wörld", "WÖRLD", "last hello"}
	f.put("a", strings.Join(lines, "\n"))
	for _, pattern := range []string{
		"hello", "(?i)hello", "(?i)HELLO", "(?i)street", "(?i)kelvin k", "(?i)k", "(?i)s", "(?i)wörld", "a.b", `a\.b`, "^$", "^hello$", "(?i)^hello$", "hel+o", "(hello)?", "(hello)+",
		"hello|ab", "(?i:h)ello", "x{0}y{3}", "l{2}o", `\bhello\b`, "[hH]ello", "(?i)hello world|a", "hello\nab", ".", "",
		"last|ab|wör", "(?i)last|wörld|ab", "(?i:HELLO)|ab|x", "(?:a|b)b", "hello|(?:)", "a.b|[k-l]as", strings.Join(strings.Split("bcdfghijmnoprtuvz", ""), "Q|") + "Q|ab",
	} {
		found, _, err := f.Search(t.Context(), workspace.Query{Pattern: pattern, Path: "a"})
		require.NoError(t, err)
		var got, want []uint32
		for _, m := range found {
			got = append(got, m.Line)
		}
		if pattern == "" {
			want = []uint32{0} // the file
		} else {
			re := regexp.MustCompile(pattern)
			for i, line := range lines {
				if re.MatchString(strings.TrimRight(line, "\r")) {
					want = append(want, uint32(i+1))
				}
			}
		}
		assert.Equal(t, want, got, pattern)
	}
}

// A search ends soon after its ctx, also within one long line.
func TestSearchEndsInALongLine(t *testing.T) {
	f := open(t, "", nil)
	f.put("a", strings.Repeat("ab", 500_000))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, _, err := f.Search(ctx, workspace.Query{Pattern: "(((a|b)?){200}){5}[cd]"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), 5*time.Second)
}
