package errlint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built returns the path of the vet tool.
func built(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "errlint")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, "./cmd/errlint").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return tool
}

func goIn(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestFixesBuild applies every fix that the analyzers suggest for testdata, and builds the
// result. A second run of the analyzers suggests no further fixes.
func TestFixesBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "testdata")
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	absolute := strings.Replace(string(mod), "=> ../../..", "=> "+root, 1)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(absolute), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := goIn(t, dir, "build", "./..."); err != nil {
		t.Fatalf("before: %s", out)
	}
	tool := built(t)
	before := sources(t, dir)
	_, _ = goIn(t, dir, "vet", "-vettool="+tool, "-fix", "./...") // it fails for what has no fix
	after := sources(t, dir)
	if before == after {
		t.Fatal("no fix was applied")
	}
	if out, err := goIn(t, dir, "build", "./..."); err != nil {
		t.Errorf("what the fixes left does not build:\n%s", out)
	}
	if out, _ := goIn(t, dir, "vet", "-vettool="+tool, "-fix", "-diff", "./..."); strings.Contains(out, "\n+") {
		t.Errorf("a second round still changes:\n%s", out)
	}
}

func sources(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// TestSilent holds that the analyzers have nothing to say about a correct agent and about
// the examples of this project.
func TestSilent(t *testing.T) {
	tool := built(t)
	for dir, packages := range map[string]string{"testdata": "./agent", "../..": "./examples/..."} {
		if out, err := goIn(t, dir, "vet", "-vettool="+tool, packages); err != nil {
			t.Errorf("%s: %s", packages, out)
		}
	}
}
