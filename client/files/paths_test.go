//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/files"
)

// A session may be given its folder in any spelling. The agent appends names of files to it.
func TestSpellingsOfTheFolderOfASession(t *testing.T) {
	const sep = string(filepath.Separator)
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	real, alias := filepath.Join(base, "real"), filepath.Join(base, "alias")
	require.NoError(t, os.MkdirAll(filepath.Join(real, "work"), 0o755))
	require.NoError(t, os.Symlink(real, alias))
	work := alias + sep + "work"
	for _, root := range []string{work, work + sep, alias + sep + "." + sep + "work" + sep + ".", real, real + sep} {
		h := newFixture(t, files.Options{Roots: []string{root}}, nil)
		for _, cwd := range []string{work, work + sep, work + sep + sep, work + sep + ".", alias + sep + sep + "work", alias + sep + "." + sep + "work" + sep} {
			h.conn.Open(h.session, cwd)
			require.NoError(t, h.write(cwd+sep+"a", cwd), "root %s, cwd %s", root, cwd)
			got, err := h.read(work + sep + "a")
			require.NoError(t, err, "root %s, cwd %s", root, cwd)
			assert.Equal(t, cwd, got)
			dir, path, err := h.folders.OpenFolder(h.conn.Handling(t.Context()), h.session, "")
			require.NoError(t, err, "root %s, cwd %s", root, cwd)
			assert.Equal(t, filepath.Join(real, "work"), path)
			dir.Close()
		}
	}
}

// A root is the folder that the system finds by the path: after a symlink, ".." is the folder above
// its target.
func TestRootBehindASymlink(t *testing.T) {
	const sep = string(filepath.Separator)
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"x", "deep/down", "deep/x"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, filepath.FromSlash(dir)), 0o755))
	}
	require.NoError(t, os.Symlink(filepath.Join(base, "deep", "down"), filepath.Join(base, "alias")))
	spelled := base + sep + "alias" + sep + ".." + sep + "x"
	t.Chdir(base)
	for _, root := range []string{spelled, "alias" + sep + ".." + sep + "x"} {
		h := newFixture(t, files.Options{Roots: []string{root}}, nil)
		h.conn.Open(h.session, spelled)
		require.NoError(t, h.write(base+sep+"deep"+sep+"x"+sep+"a", "text"), root)
		h.conn.Open(h.session, filepath.Join(base, "x"))
		assert.ErrorIs(t, h.write(filepath.Join(base, "x", "a"), "text"), files.ErrOutside, root)
		h.conn.Open(h.session, spelled)
		got, err := h.read(spelled + sep + "a")
		require.NoError(t, err, root)
		assert.Equal(t, "text", got)
	}
}

// Whatever the path and the symlinks, nothing outside is read or written, and the file that is read
// is the one that the system finds by that path.
func FuzzPath(f *testing.F) {
	f.Add("a", "sub")
	f.Add("link/../a", "sub/deep")
	f.Add("link/secret.txt", "..")
	f.Add("../work/sub/./b", "a")
	f.Add("link", "/etc/passwd")
	f.Add("sub/../../secret.txt", "link")
	f.Add("a/", "a/")
	f.Add("link/.", "sub/b/.")
	f.Fuzz(func(t *testing.T, rel, target string) {
		h := newFixture(t, files.Options{}, nil)
		h.mkdir("sub/deep")
		h.put(h.at("a"), "a")
		h.put(h.at("sub/b"), "b")
		h.put(h.at("sub/deep/c"), "c")
		_ = os.Symlink(strings.ReplaceAll(target, "$", h.base), h.at("link"))
		path := h.at(rel)
		text, err := h.read(path)
		if err == nil {
			require.Equal(t, h.text(path), text)
			real, err := filepath.EvalSymlinks(path)
			if err == nil { // it cleans the path first, so it may not find the file
				require.True(t, strings.HasPrefix(real, h.work+"/") || strings.Contains(rel, ".."), real)
			}
		}
		_ = h.write(path, "overwritten")
		require.Equal(t, secretText, h.text(h.secret))
		names, err := os.ReadDir(h.base)
		require.NoError(t, err)
		require.Len(t, names, 2, "nothing was created outside")
	})
}
