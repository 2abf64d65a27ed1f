//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// house makes a folder to work in, with a secret beside it.
func house(t *testing.T) (f *files, dir, secret string) {
	t.Helper()
	base := t.TempDir()
	dir, secret = filepath.Join(base, "work"), filepath.Join(base, "secret.txt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	f, err := openFiles(dir)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f, dir, secret
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestReadLines(t *testing.T) {
	f, dir, _ := house(t)
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\n")
	tests := map[string]struct {
		line, limit *uint32
		want        string
	}{
		"all":            {nil, nil, "one\ntwo\nthree\n"},
		"from a line":    {new(uint32(2)), nil, "two\nthree\n"},
		"some lines":     {new(uint32(2)), new(uint32(1)), "two\n"},
		"behind the end": {new(uint32(9)), nil, ""},
		"no lines":       {nil, new(uint32(0)), ""},
		"line zero":      {new(uint32(0)), new(uint32(1)), "one\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			res, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: filepath.Join(dir, "a.txt"), Line: tt.line, Limit: tt.limit})
			require.NoError(t, err)
			assert.Equal(t, tt.want, res.Content)
		})
	}
}

func TestFilesEndAtTheFolder(t *testing.T) {
	f, dir, secret := house(t)
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.txt")))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "up")))
	for name, path := range map[string]string{
		"beside":             secret,
		"dot dot":            dir + "/../secret.txt",
		"symbolic link":      filepath.Join(dir, "link.txt"),
		"linked folder":      filepath.Join(dir, "up", "secret.txt"),
		"elsewhere":          "/etc/passwd",
		"relative":           "a.txt",
		"name begins alike":  dir + "-other/secret.txt",
		"the folder's outer": filepath.Dir(dir),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: path})
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
			_, err = f.WriteTextFile(t.Context(), &acp.WriteTextFileRequest{Path: path, Content: "gone"})
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
		})
	}
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(text))
}

func TestFilesThatAreNoText(t *testing.T) {
	f, dir, _ := house(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("binary"), "a\x00b")
	write(t, path("latin"), "caf\xe9")
	write(t, path("large"), strings.Repeat("x", maxFile+1))
	require.NoError(t, os.Mkdir(path("folder"), 0o755))
	require.NoError(t, syscall.Mkfifo(path("pipe"), 0o644))
	for name, want := range map[string]string{
		"binary": "not a text file", "latin": "not a text file", "large": "larger than 10 MiB",
		"folder": "not a regular file", "pipe": "not a regular file",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: path(name)})
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
			assert.ErrorContains(t, err, want)
		})
	}
	_, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: path("missing")})
	assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
}

func TestWriteMakesFolders(t *testing.T) {
	f, dir, _ := house(t)
	path := filepath.Join(dir, "new", "deep", "a.txt")
	_, err := f.WriteTextFile(t.Context(), &acp.WriteTextFileRequest{Path: path, Content: "hello"})
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))
}
