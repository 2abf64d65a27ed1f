package interop_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds one conversation with a peer. All of them take a few seconds.
const patience = 90 * time.Second

// need skips a test for want of a program, but not in CI, where everything has to
// be there.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed; in CI the interop tests may not be skipped", program)
	}
	t.Skipf("%s is not installed: this test talks to programs that need it", program)
	return ""
}

// installed is the output and the error of npm ci. It runs once, and only if the packages
// are not installed or are older than package-lock.json.
var installed = sync.OnceValues(func() ([]byte, error) {
	want, err := os.Stat("peers/package-lock.json")
	if err != nil {
		return nil, err
	}
	if have, err := os.Stat("peers/node_modules/.package-lock.json"); err == nil && !have.ModTime().Before(want.ModTime()) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = "peers"
	return cmd.CombinedOutput()
})

// peers returns the absolute path of the folder with the programs from npm, and
// installs them when they are missing.
func peers(t *testing.T) string {
	t.Helper()
	need(t, "npm")
	need(t, "node")
	if out, err := installed(); err != nil {
		t.Fatalf("npm ci in internal/system/interop/peers: %v\n%s", err, out)
	}
	dir, err := filepath.Abs("peers")
	require.NoError(t, err)
	return dir
}

// node is the command that runs one of the peers' scripts.
func node(t *testing.T, script string, args ...string) []string {
	t.Helper()
	return append([]string{need(t, "node"), filepath.Join(peers(t), script)}, args...)
}

// self is the command that runs the test binary as an agent. The
// caller sets selfEnv for it.
func self(t *testing.T) []string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return []string{exe}
}

// selfEnv is the environment that makes the test binary play a role of main_test.go.
func selfEnv(role string) []string { return append(os.Environ(), roleVar+"="+role) }

// scratch is a folder whose name is the same for every program, also where the
// folder for temporary files is reached through a link.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// outcome is what a program left behind.
type outcome struct {
	stdout, stderr string
	code           int
}

// run runs a program to its end. The program and its children are killed when the
// test ends or takes too long.
func run(t *testing.T, dir string, env []string, input string, command ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin = bytes.NewBufferString(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 2 * time.Second
	ownGroup(cmd)
	err := cmd.Run()
	require.NoError(t, ctx.Err(), "no end of %v\nstdout: %s\nstderr: %s", command, &stdout, &stderr)
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// needShell skips a test where the scripts of the conversation cannot run.
func needShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows, whose scripts the conversation runs")
	}
}
