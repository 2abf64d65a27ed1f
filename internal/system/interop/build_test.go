package interop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// builds are the folders for programs that the tests build. They outlive the test that
// needs a program first, and are removed when all tests are over.
var builds struct {
	mu   sync.Mutex
	dirs []string
}

func buildDir() (string, error) {
	dir, err := os.MkdirTemp("", "acpkit-interop-")
	if err != nil {
		return "", err
	}
	builds.mu.Lock()
	defer builds.mu.Unlock()
	builds.dirs = append(builds.dirs, dir)
	return dir, nil
}

func buildDirs() []string {
	builds.mu.Lock()
	defer builds.mu.Unlock()
	return builds.dirs
}

var exampleBin = sync.OnceValues(func() (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "github.com/acpkit/go-sdk/examples/agent", "github.com/acpkit/go-sdk/examples/chat").CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return dir, nil
})

// example is one of the project's own example programs.
func example(t *testing.T, program string) string {
	t.Helper()
	need(t, "go")
	dir, err := exampleBin()
	require.NoError(t, err, "go build: %s", dir)
	return filepath.Join(dir, program)
}
