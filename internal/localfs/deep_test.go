package localfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deep returns a root and the path of a folder that is 60 levels below it.
func deep(t *testing.T) (*Root, string) {
	t.Helper()
	base := t.TempDir()
	path := base + strings.Repeat(string(filepath.Separator)+"d", 60)
	require.NoError(t, os.MkdirAll(path, 0o755))
	root, err := OpenRoot(base)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return root, path
}

func (w *walker) open() (n int) {
	for _, f := range w.below {
		if f.dir != nil {
			n++
		}
	}
	return n
}

// Many paths are followed at the same time, so that each keeps only a few folders open, however deep it is.
func TestDeepPathKeepsAFewFoldersOpen(t *testing.T) {
	root, path := deep(t)
	w := &walker{allowed: []*Root{root}}
	defer func() { w.leave(0) }()
	require.NoError(t, w.start(path))
	for depth, name := range w.rest {
		at, err := w.down(name)
		require.NoError(t, err)
		require.Nil(t, at)
		require.LessOrEqual(t, w.open(), keptOpen, "%d", depth)
	}
	for len(w.below) > 0 {
		require.NoError(t, w.up())
		require.LessOrEqual(t, w.open(), keptOpen)
		require.True(t, len(w.below) == 0 || w.here().dir != nil)
	}
}

// The path is the one that the system finds, by ".." and by symlinks that begin with it.
func TestDeepPathGoesUp(t *testing.T) {
	root, path := deep(t)
	up := strings.Repeat(".."+string(filepath.Separator), 50)
	if err := os.Symlink(up+"made", filepath.Join(path, "link")); err != nil {
		t.Skip("this user may not make symlinks") // as on Windows without a privilege
	}
	for _, name := range []string{"link", up + "made"} {
		at, err := Locate([]*Root{root}, path+string(filepath.Separator)+name)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(root.real, strings.Repeat("d/", 10), "made"), at.Path)
		at.Close()
	}
}

// A folder on the way that was exchanged since it was passed leads nowhere.
func TestExchangedFolderIsNotEnteredAgain(t *testing.T) {
	root, path := deep(t)
	w := &walker{allowed: []*Root{root}}
	defer func() { w.leave(0) }()
	require.NoError(t, w.start(path))
	for _, name := range w.rest {
		_, err := w.down(name)
		require.NoError(t, err)
	}
	top := filepath.Join(root.real, "d")
	require.NoError(t, os.Rename(top, top+"2"))
	require.NoError(t, os.MkdirAll(path, 0o755))
	var err error
	for err == nil && len(w.below) > 0 {
		err = w.up()
	}
	assert.ErrorIs(t, err, ErrChanged)
}
