//go:build unix

package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
