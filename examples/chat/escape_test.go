//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// A symbolic link that changes while it is used does not lead out either.
func TestLinksThatAreSwappedInBetween(t *testing.T) {
	f, dir, secret := house(t)
	outside := filepath.Dir(secret)
	real, place, next := filepath.Join(dir, "real"), filepath.Join(dir, "place"), filepath.Join(dir, "next")
	require.NoError(t, os.Mkdir(real, 0o755))
	write(t, filepath.Join(real, "secret.txt"), "harmless")
	require.NoError(t, os.Symlink("real", place))

	ctx, stop := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for ctx.Err() == nil {
			os.Symlink(outside, next)
			os.Rename(next, place)
			os.Symlink("real", next)
			os.Rename(next, place)
		}
	})
	path, read := filepath.Join(place, "secret.txt"), 0
	for range 2000 {
		res, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: path})
		if err == nil {
			read++
			require.Equal(t, "harmless", res.Content)
		}
		_, _ = f.WriteTextFile(t.Context(), &acp.WriteTextFileRequest{Path: path, Content: "harmless"})
	}
	stop()
	swapping.Wait()
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(text))
	t.Logf("%d of 2000 were let in", read)
}

func TestFilesOfOtherKinds(t *testing.T) {
	f, dir, secret := house(t)
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "new.txt")))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(dir, "inside.txt")))
	write(t, filepath.Join(dir, "a.txt"), "a")
	for _, name := range []string{"loop", "new.txt", ".", "a.txt/b", "nul\x00"} {
		_, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: dir + "/" + name})
		assert.Error(t, err, name)
		_, err = f.WriteTextFile(t.Context(), &acp.WriteTextFileRequest{Path: dir + "/" + name, Content: "gone"})
		assert.Error(t, err, name)
	}
	res, err := f.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{Path: filepath.Join(dir, "inside.txt")})
	require.NoError(t, err, "links within the folder are fine")
	assert.Equal(t, "a", res.Content)
	_, err = f.WriteTextFile(t.Context(), &acp.WriteTextFileRequest{Path: filepath.Join(dir, "large"), Content: strings.Repeat("x", maxFile+1)})
	assert.ErrorContains(t, err, "larger than 10 MiB")
	assert.NoFileExists(t, filepath.Join(dir, "large"))
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "secret", string(text))
}

// output runs a command to its end and returns what it printed.
func output(t *testing.T, ts *terminals, req *acp.CreateTerminalRequest) (string, error) {
	t.Helper()
	created, err := ts.CreateTerminal(t.Context(), req)
	if err != nil {
		return "", err
	}
	_, err = ts.WaitForTerminalExit(t.Context(), &acp.WaitForTerminalExitRequest{TerminalID: created.TerminalID})
	require.NoError(t, err)
	out, err := ts.TerminalOutput(t.Context(), &acp.TerminalOutputRequest{TerminalID: created.TerminalID})
	require.NoError(t, err)
	_, err = ts.ReleaseTerminal(t.Context(), &acp.ReleaseTerminalRequest{TerminalID: created.TerminalID})
	require.NoError(t, err)
	return strings.TrimSpace(out.Output), nil
}

func TestTerminalsStartBelowTheFolder(t *testing.T) {
	f, dir, secret := house(t)
	ts := newTerminals(f)
	defer ts.Close()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "up")))
	write(t, filepath.Join(dir, "a.txt"), "a")
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	for cwd, want := range map[string]string{"": real, dir: real, filepath.Join(dir, "sub"): filepath.Join(real, "sub"), dir + "/sub/../sub": filepath.Join(real, "sub")} {
		got, err := output(t, ts, &acp.CreateTerminalRequest{Command: "pwd", Args: []string{"-P"}, Cwd: cwd})
		require.NoError(t, err)
		assert.Equal(t, want, got, cwd)
	}
	for _, cwd := range []string{"/", "sub", filepath.Dir(dir), dir + "/..", filepath.Join(dir, "up"), filepath.Join(dir, "a.txt"), filepath.Join(dir, "missing")} {
		_, err := output(t, ts, &acp.CreateTerminalRequest{Command: "pwd", Cwd: cwd})
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, cwd)
	}
}

func TestTerminalsAreBounded(t *testing.T) {
	f, _, _ := house(t)
	ts := newTerminals(f)
	for range maxTerminals {
		_, err := ts.CreateTerminal(t.Context(), &acp.CreateTerminalRequest{Command: "sleep", Args: []string{"1000"}})
		require.NoError(t, err)
	}
	_, err := ts.CreateTerminal(t.Context(), &acp.CreateTerminalRequest{Command: "true"})
	assert.ErrorContains(t, err, "too many terminals")
	ts.Close()
	_, err = ts.CreateTerminal(t.Context(), &acp.CreateTerminalRequest{Command: "true"})
	assert.Error(t, err, "none begins behind Close")
}

// What a command starts in the background ends with it.
func TestNothingIsLeftOfATerminal(t *testing.T) {
	f, _, _ := house(t)
	ts := newTerminals(f)
	defer ts.Close()
	pid, err := output(t, ts, &acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "sleep 1000 >/dev/null 2>&1 & echo $!"}})
	require.NoError(t, err)
	n, err := strconv.Atoi(pid)
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return syscall.Kill(n, 0) != nil || zombie(n) }, 5*time.Second, 10*time.Millisecond)
}

// zombie tells whether a process is dead and only waits for somebody to notice.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}
