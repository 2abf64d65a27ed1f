//go:build unix

package files_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Every path outside gets the same error, whether or not the file exists. The file does not change.
func TestOutside(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.mkdir("sub")
	h.put(h.work+"-twin", secretText)
	require.NoError(t, os.Mkdir(filepath.Join(h.base, "house"), 0o755))
	h.link(h.secret, "absolute link")
	h.link("../secret.txt", "relative link")
	h.link(filepath.Join(h.base, "nothing"), "dangling link")
	h.link("../nothing", "dangling relative link")
	h.link(h.base, "up")
	h.link("up", "up twice")
	h.link("../..", "sub/far up")
	outside := map[string]string{
		"a file":                    h.secret,
		"nothing":                   filepath.Join(h.base, "nothing"),
		"dot dot":                   h.at("../secret.txt"),
		"dot dot below":             h.at("sub/../../secret.txt"),
		"many dot dots":             h.at(strings.Repeat("../", 50) + "etc/passwd"),
		"absolute link":             h.at("absolute link"),
		"relative link":             h.at("relative link"),
		"dangling link":             h.at("dangling link"),
		"dangling relative link":    h.at("dangling relative link"),
		"parent is a link":          h.at("up/secret.txt"),
		"parent is a link, nothing": h.at("up/nothing"),
		"link to a link":            h.at("up twice/secret.txt"),
		"a link that goes too far":  h.at("sub/far up/secret.txt"),
		"new folder outside":        h.at("up/new/file"),
		"prefix twin":               h.work + "-twin",
		"prefix twin as a folder":   h.work + "-twin/a",
		"elsewhere":                 "/etc/passwd",
		"the parent":                h.base,
		"the root of the system":    "/",
		"out and in again":          h.at("../house/../secret.txt"),
	}
	for name, path := range outside {
		t.Run(name, func(t *testing.T) {
			_, err := h.read(path)
			want := rpcerr.InvalidParams(map[string]any{"path": path, "reason": "path_escape", "recovery": map[string]string{"hint": "Use a path in a folder of the session"}}).WithDetail("path is outside of the folders of the session")
			require.ErrorIs(t, err, files.ErrOutside)
			assert.Equal(t, encoded(t, want), encoded(t, rpcerr.From(err)))
			err = h.write(path, "changed")
			require.ErrorIs(t, err, files.ErrOutside)
			assert.Equal(t, encoded(t, want), encoded(t, rpcerr.From(err)))
		})
	}
	assert.Equal(t, secretText, h.text(h.secret))
	assert.Equal(t, secretText, h.text(h.work+"-twin"))
	assert.NoFileExists(t, filepath.Join(h.base, "nothing"))
	assert.NoDirExists(t, filepath.Join(h.base, "new"))
}

func TestInside(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.mkdir("sub/deep")
	h.mkdir("other")
	h.put(h.at("a"), "a")
	h.put(h.at("sub/b"), "b")
	h.put(h.at("other/c"), "c")
	h.put(h.at("b"), "wrong")
	h.link(h.at("sub/deep"), "alias")
	h.link("sub/b", "link")
	h.link("../a", "sub/link up")
	h.link(h.at("missing"), "dangling")
	for path, want := range map[string]string{
		"a":                   "a",
		"./sub//./b":          "b",
		"sub/../a":            "a",
		"../work/a":           "a",
		"../work/../work/a":   "a",
		"alias/../b":          "b", // not the b next to the alias
		"link":                "b",
		"sub/link up":         "a",
		"alias/../../other/c": "c",
	} {
		got, err := h.read(h.at(path))
		assert.NoError(t, err, path)
		assert.Equal(t, want, got, path)
	}
	require.NoError(t, h.write(h.at("link"), "new b"))
	assert.Equal(t, "new b", h.text(h.at("sub/b")))
	target, err := os.Readlink(h.at("link"))
	require.NoError(t, err, "the link stays a link")
	assert.Equal(t, "sub/b", target)
	_, err = h.read(h.at("dangling"))
	assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	require.NoError(t, h.write(h.at("dangling"), "made"))
	assert.Equal(t, "made", h.text(h.at("missing")))
}

func TestLinksInACircle(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.link("b", "a")
	h.link("a", "b")
	_, err := h.read(h.at("a"))
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
	assert.ErrorIs(t, h.write(h.at("b/c"), ""), rpcerr.ErrInvalidParams)
}

func TestMissing(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	for _, path := range []string{"nothing", "no/folder/file", "no/../file"} {
		_, err := h.read(h.at(path))
		assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound, path)
	}
	assert.ErrorIs(t, h.write(h.at("no/../file"), ""), rpcerr.ErrResourceNotFound)
	h.put(h.at("file"), "")
	_, err := h.read(h.at("file/below"))
	assert.ErrorIs(t, err, files.ErrNotFile)
}

// A path with a separator or a "." at the end must be a folder.
func TestPathOfAFolder(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.mkdir("sub")
	h.put(h.at("sub/a"), "a")
	h.link("sub/", "to sub")
	h.link("sub/a/", "to a file as a folder")
	h.link("new/", "to nothing")
	for path, want := range map[string]error{
		"sub/a/": files.ErrNotFolder, "sub/a/.": files.ErrNotFolder, "sub/a/./": files.ErrNotFolder, "sub/a//": files.ErrNotFolder,
		"to sub/a/": files.ErrNotFolder, "to a file as a folder": files.ErrNotFolder,
		"sub/": files.ErrNotFile, "sub/.": files.ErrNotFile, "to sub": files.ErrNotFile,
		"new/": fs.ErrNotExist, "new/.": fs.ErrNotExist, "to nothing": fs.ErrNotExist,
	} {
		_, err := h.read(h.at(path))
		assert.ErrorIs(t, err, want, path)
		assert.ErrorIs(t, h.write(h.at(path), "x"), want, path)
		if want == files.ErrNotFile {
			want = nil
		}
		dir, _, err := h.folders.OpenFolder(h.conn.Handling(t.Context()), h.session, h.at(path))
		assert.ErrorIs(t, err, want, path)
		if dir != nil {
			dir.Close()
		}
	}
	for _, path := range []string{"./sub/./a", "to sub/a", "to sub/./a", "sub//a"} {
		got, err := h.read(h.at(path))
		assert.NoError(t, err, path)
		assert.Equal(t, "a", got, path)
	}
	require.NoError(t, h.write(h.at("to nothing/./made"), "b"))
	assert.Equal(t, "b", h.text(h.at("new/made")))
}

func TestParentsAreCreatedInsideOnly(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	require.NoError(t, h.write(h.at("new/deep/er/file"), "x"))
	assert.Equal(t, "x", h.text(h.at("new/deep/er/file")))
	h.link(h.at("made by a link"), "link")
	require.NoError(t, h.write(h.at("link/sub/file"), "y"))
	assert.Equal(t, "y", h.text(h.at("made by a link/sub/file")))
}

func TestRootThroughASymlink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	alias := filepath.Join(base, "alias")
	require.NoError(t, os.MkdirAll(filepath.Join(base, "real", "work"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(base, "real"), alias))
	root := filepath.Join(alias, "work")
	h := newFixture(t, files.Options{Roots: []string{root}}, nil)
	h.conn.Open("s", root)
	var seen []string
	h.ReadWriter = h.folders.ReadWriter(h.conn, recordPaths(&seen))
	for _, path := range []string{filepath.Join(root, "a"), filepath.Join(base, "real", "work", "a")} {
		require.NoError(t, h.write(path, path))
		got, err := h.read(path)
		require.NoError(t, err)
		assert.Equal(t, path, got)
	}
	for _, path := range seen {
		assert.Equal(t, filepath.Join(base, "real", "work", "a"), path)
	}
	require.NoError(t, os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "through the alias")))
	_, err = h.read(filepath.Join(root, "through the alias"))
	assert.NoError(t, err, "an absolute link by the name that the root was given by")
}

// A root is the folder that was opened, even if another one has its name later.
func TestRootIsReplaced(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.put(h.at("secret.txt"), "mine")
	_, err := h.read(h.at("secret.txt"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(h.work, h.work+".moved"))
	require.NoError(t, os.Symlink(h.base, h.work))
	got, err := h.read(h.at("secret.txt"))
	require.NoError(t, err)
	assert.Equal(t, "mine", got)
	require.NoError(t, h.write(h.at("secret.txt"), "changed"))
	assert.Equal(t, secretText, h.text(h.secret))
	assert.Equal(t, "changed", h.text(filepath.Join(h.work+".moved", "secret.txt")))
}

// The first requests of a session may be concurrent. None closes folders that another one uses.
func TestFirstRequestsAtOnce(t *testing.T) {
	const n = 8
	var all *barrier
	h := newFixture(t, files.Options{}, func(context.Context, *files.Operation) error { all.wait(); return nil })
	h.put(h.at("a"), "a")
	for range 50 {
		all = &barrier{left: n, open: make(chan struct{})}
		h.session += "s"
		h.conn.Open(h.session, h.work)
		var readers sync.WaitGroup
		for range n {
			readers.Go(func() { // ends after its read
				_, err := h.read(h.at("a"))
				assert.NoError(t, err)
			})
		}
		readers.Wait()
	}
}

// barrier blocks goroutines until all have arrived.
type barrier struct {
	mu   sync.Mutex // guards left
	left int
	open chan struct{}
}

func (b *barrier) wait() {
	b.mu.Lock()
	if b.left--; b.left == 0 {
		close(b.open)
	}
	b.mu.Unlock()
	<-b.open
}

func TestSessions(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.mkdir("one")
	h.mkdir("two")
	h.put(h.at("one/a"), "a")
	h.put(h.at("two/b"), "b")
	h.conn.Open("one", h.at("one"))
	h.conn.Open("both", h.at("one"), h.at("two"))
	h.conn.Open("outside", h.base)
	h.conn.Open("missing", h.at("three"))
	link := filepath.Join(h.work, "to the secret")
	require.NoError(t, os.Symlink(h.base, link))
	h.conn.Open("link", link)
	for _, tt := range []struct {
		session acp.SessionID
		path    string
		want    error
	}{
		{"one", "one/a", nil},
		{"one", "two/b", files.ErrOutside},
		{"both", "two/b", nil},
		{"outside", "one/a", files.ErrOutside},
		{"outside", "../secret.txt", files.ErrOutside},
		{"missing", "three/a", files.ErrOutside},
		{"link", "to the secret/secret.txt", files.ErrOutside},
		{"never opened", "one/a", files.ErrUnknownSession},
		{"", "one/a", files.ErrUnknownSession},
	} {
		h.session = tt.session
		_, err := h.read(h.at(tt.path))
		assert.ErrorIs(t, err, tt.want, "%s: %s", tt.session, tt.path)
		if tt.want != nil {
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
			assert.ErrorIs(t, h.write(h.at(tt.path), "changed"), tt.want)
		}
	}
	h.session = "one"
	h.conn.Open("one", h.at("two")) // loaded again with another folder
	_, err := h.read(h.at("one/a"))
	assert.ErrorIs(t, err, files.ErrOutside)
	_, err = h.read(h.at("two/b"))
	assert.NoError(t, err)
}

func TestOtherConnection(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	h.put(h.at("a"), "a")
	theirs := peertest.NewSessions(h.work, "theirs")
	other := h.folders.ReadWriter(theirs, nil)
	_, err := other.ReadTextFile(theirs.Handling(t.Context()), &acp.ReadTextFileRequest{SessionID: "s", Path: h.at("a")})
	assert.ErrorIs(t, err, files.ErrUnknownSession)
}

func TestEndOfSessionClosesFolders(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		return len(names)
	}
	before := open()
	h := newFixture(t, files.Options{}, nil)
	with := open()
	h.put(h.at("a"), "a")
	for range 100 {
		_, err := h.read(h.at("a"))
		require.NoError(t, err)
		_, err = h.read(h.at("none/a"))
		require.Error(t, err)
		require.NoError(t, h.write(h.at("sub/a"), "a"))
	}
	h.conn.Ended("s")
	assert.Equal(t, with, open(), "after the session")
	_, err := h.read(h.at("a"))
	require.NoError(t, err, "it was opened again")
	h.conn.End()
	assert.Equal(t, with, open(), "after the connection")
	_, err = h.read(h.at("a"))
	assert.ErrorIs(t, err, files.ErrUnknownSession)
	require.NoError(t, h.folders.Close())
	assert.Equal(t, before, open(), "after Close")
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, dir := range map[string]string{"empty": "", "missing": file + "/none", "a file": file, "procfs": "/proc/self"} {
		_, err := files.Open(&files.Options{Roots: []string{dir}})
		if name == "procfs" && !isLinux {
			continue
		}
		assert.Error(t, err, name)
	}
}

func encoded(t *testing.T, err error) string {
	b, failed := json.Marshal(err)
	require.NoError(t, failed)
	return string(b)
}
