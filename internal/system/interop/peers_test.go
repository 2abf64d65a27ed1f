// Package interop holds tests against programs that other people wrote: the
// TypeScript SDK in both roles, Gemini CLI, acpx, the examples of another Go SDK,
// and recordings of conversations on the wire. It has no code of its own.
//
// The programs come from npm and from the Go module proxy, at pinned versions. Where
// npm is missing the tests that need it say so and are skipped; with the environment
// variable CI set they fail instead.
package interop_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/process"
	"github.com/acpkit/go-sdk/stream"
)

// conversationTimeout bounds one conversation with a peer. All of them take a few seconds.
const conversationTimeout = 90 * time.Second

// need skips a test if a program is not installed. In CI it fails the test.
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

// installed and installedNodes are the output and the error of npm ci in a folder.
var (
	installed      = npm("peers", "--omit=optional")
	installedNodes = npm("peers/nodes")
)

// npm returns a function that runs npm ci in a folder, once, and only if the packages are not installed
// or are older than package-lock.json.
func npm(dir string, args ...string) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		want, err := os.Stat(filepath.Join(dir, "package-lock.json"))
		if err != nil {
			return nil, err
		}
		if have, err := os.Stat(filepath.Join(dir, "node_modules/.package-lock.json")); err == nil && !have.ModTime().Before(want.ModTime()) {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "npm", append([]string{"ci", "--ignore-scripts", "--no-audit", "--no-fund"}, args...)...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	})
}

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

// onEachNode runs a test with the program of each version of Node.js in peers/nodes, which are for Linux,
// and installs them when they are missing. On other systems it runs it with the one that is installed.
func onEachNode(t *testing.T, test func(t *testing.T, node string)) {
	t.Helper()
	dir := peers(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		test(t, need(t, "node"))
		return
	}
	if out, err := installedNodes(); err != nil {
		t.Fatalf("npm ci in internal/system/interop/peers/nodes: %v\n%s", err, out)
	}
	for _, version := range []string{"20", "24"} {
		t.Run("Node "+version, func(t *testing.T) {
			program := filepath.Join(dir, "nodes/node_modules/node"+version+"/bin/node")
			out, err := exec.Command(program, "--version").CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Regexp(t, `^v`+version+`\.`, string(out))
			test(t, program)
		})
	}
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

// selfEnv is the environment that makes the test binary play a role of TestMain.
func selfEnv(role string) []string { return append(os.Environ(), roleVar+"="+role) }

// outcome is what a program left behind.
type outcome struct {
	stdout, stderr string
	code           int
}

// run runs a program to its end. The program and its children are killed when the
// test ends or takes too long.
func run(t *testing.T, dir string, env []string, input string, command ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
	defer cancel()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin = bytes.NewBufferString(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 2 * time.Second
	group, err := process.Start(cmd)
	require.NoError(t, err)
	defer group.Close()
	defer context.AfterFunc(ctx, group.Kill)()
	_ = cmd.Wait() // the exit code says it
	group.Reaped()
	require.NoError(t, ctx.Err(), "no end of %v\nstdout: %s\nstderr: %s", command, &stdout, &stderr)
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// needShell skips a test where the scripts of the conversation cannot run.
func needShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh: the conversation runs scripts of it")
	}
}

// builds is the folder for programs that the tests build. It is removed when all tests are over.
var builds string

// built is a program in builds, which build makes when a test needs it first.
func built(t *testing.T, build func() ([]byte, error), program string) string {
	t.Helper()
	need(t, "go")
	out, err := build()
	require.NoError(t, err, "%s", out)
	return filepath.Join(builds, program)
}

var buildExamples = sync.OnceValues(func() ([]byte, error) {
	const module = "github.com/acpkit/go-sdk/"
	out, err := exec.Command("go", "build", "-o", builds+string(filepath.Separator), module+"examples/agent", module+"examples/chat", module+"examples/coder", module+"examples/echo", module+"cmd/acp").CombinedOutput()
	if err != nil {
		return out, err
	}
	return exec.Command("go", "build", "-o", filepath.Join(builds, "draft2")+string(filepath.Separator), module+"draft2/examples/agent").CombinedOutput()
})

// example is one of the project's own example programs.
func example(t *testing.T, program string) string {
	t.Helper()
	return built(t, buildExamples, program)
}

// roleVar makes the test binary an agent instead of running tests, so that
// clients in other languages have an agent of ours to start.
const roleVar = "ACPKIT_INTEROP_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		var err error
		if builds, err = os.MkdirTemp("", "acpkit-interop-"); err != nil {
			panic(err)
		}
		code := m.Run()
		_ = os.RemoveAll(builds) // what was built for the tests
		os.Exit(code)
	case "agent", "agent2", "router", "library", "separators":
		os.Exit(play(role))
	default:
		fmt.Fprintf(os.Stderr, "%s=%s is not a role\n", roleVar, role)
		os.Exit(2)
	}
}

// play is an agent of peers/README.md over stdio: that of one version, or both behind the
// router. Whatever it logs is a warning at least; the tests look for that on stderr.
func play(role string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := serveRole(context.Background(), role, stream.Stdio(), log); err != nil {
		log.Error("agent ended", "err", err)
		return 1
	}
	return 0
}

func serveRole(ctx context.Context, role string, s stream.Stream, log *slog.Logger) error {
	first, second := &agent.Options{Unstable: true, Logger: log}, &agent2.Options{Unstable: true, Logger: log}
	switch role {
	case "agent":
		return agent.Serve(ctx, s, newGoAgent, first)
	case "agent2":
		return agent2.Serve(ctx, s, newGoAgent2, second)
	case "separators":
		return agent.Serve(ctx, s, func(c *agent.Conn) acp.Agent { return &separatorsAgent{conn: c} }, first)
	case "library":
		serveOnLibrary(ctx, s, log)
		return nil
	}
	return serve.Route(ctx, s, &serve.Agents{V1: newGoAgent, V2: newGoAgent2}, &serve.Options{V1: first, V2: second})
}
