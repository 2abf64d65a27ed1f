//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/files"
)

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
