package recording

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/filelock"
)

func TestFolder(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	dir, err := Folder()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(state, "acpkit", "recordings"), dir)
	list, err := List(dir)
	require.NoError(t, err)
	assert.Empty(t, list)

	started := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	f, err := create(dir, started)
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, fmt.Sprintf("20260102T030405.006Z-%d.jsonl", os.Getpid()), filepath.Base(f.Name()))
	list, err = List(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.True(t, list[0].Live)
	require.NoError(t, f.Close())
	assert.False(t, isLive(f.Name()))
}

// Some editors start programs with PATH alone. Recordings then are where they are otherwise.
func TestFolderWithoutHome(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system has a folder for caches of its own there")
	}
	account, err := user.Current()
	require.NoError(t, err)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	dir, err := Folder()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(account.HomeDir, ".local", "state", "acpkit", "recordings"), dir)
}

func TestOnlyTheUserReadsRecordings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	f, err := create(dir, time.Now())
	require.NoError(t, err)
	defer f.Close()
	for name, mode := range map[string]os.FileMode{dir: 0o700, f.Name(): 0o600} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		if os.PathSeparator == '/' {
			assert.Equal(t, mode, info.Mode().Perm(), name)
		}
	}
}

// The folder holds 50 recordings and 2 GiB. The oldest go first, and never one that is being
// written.
func TestLimitsOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	names := func() (list []string) {
		files, err := List(dir)
		require.NoError(t, err)
		for _, f := range files {
			list = append(list, filepath.Base(f.Path))
		}
		return list
	}
	old := filepath.Join(dir, "2000-live.jsonl")
	live, err := os.Create(old)
	require.NoError(t, err)
	defer live.Close()
	require.NoError(t, filelock.Lock(live))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	for i := range 60 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("2001-%02d.jsonl", i)), nil, 0o600))
	}
	f, err := create(dir, time.Now())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	left := names()
	require.Len(t, left, 50)
	assert.Equal(t, []string{"2001-12.jsonl", "2000-live.jsonl"}, left[48:])

	require.NoError(t, os.Truncate(filepath.Join(dir, "2001-13.jsonl"), maxBytes-100)) // sparse
	require.NoError(t, os.Truncate(filepath.Join(dir, "2001-14.jsonl"), 101))
	f, err = create(dir, time.Now())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	left = names()
	assert.NotContains(t, left, "2001-13.jsonl")
	assert.Contains(t, left, "2001-14.jsonl")
	assert.Contains(t, left, "2000-live.jsonl")
	assert.FileExists(t, filepath.Join(dir, "notes.txt"))
}
