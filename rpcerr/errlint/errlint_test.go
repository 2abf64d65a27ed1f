package errlint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/acpkit/go-sdk/rpcerr/errlint"
)

// The cases are in testdata, a module of its own that uses the real packages.
func TestAnalyzers(t *testing.T) {
	all := map[string]*analysis.Analyzer{}
	for _, a := range errlint.Analyzers() {
		all[a.Name] = a
	}
	for folder, name := range map[string]string{
		"contract": "errcontract", "plain": "errplain", "onerror": "errplain", "across": "errfail", "use": "erruse", "embed": "errembed", "nilerr": "errnil",
	} {
		t.Run(folder, func(t *testing.T) { analysistest.Run(t, analysistest.TestData(), all[name], "./"+folder) })
	}
	for folder, name := range map[string]string{
		"fail": "errfail", "factory": "errfactory", "cause": "errcause", "text": "errtext",
	} {
		t.Run(folder, func(t *testing.T) {
			analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), all[name], "./"+folder)
		})
	}
}

func TestNothingToSay(t *testing.T) {
	for _, a := range errlint.Analyzers() {
		analysistest.Run(t, analysistest.TestData(), a, "./clean")
	}
}

func TestDocs(t *testing.T) {
	if err := analysis.Validate(errlint.Analyzers()); err != nil {
		t.Fatal(err)
	}
}

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
	absolute := strings.ReplaceAll(string(mod), "=> ../../..", "=> "+root)
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

// TestSilent requires that the analyzers report nothing for a correct agent and for the examples of
// this project.
func TestSilent(t *testing.T) {
	tool := built(t)
	for dir, packages := range map[string]string{"testdata": "./agent", "../..": "./examples/..."} {
		if out, err := goIn(t, dir, "vet", "-vettool="+tool, packages); err != nil {
			t.Errorf("%s: %s", packages, out)
		}
	}
}

// TestReadme runs the command in README.md and compares its output with README.md.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```text\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md shows no output")
	}
	tool := built(t)
	vet := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet"}, args...)...)
		cmd.Dir = "example"
		out, _ := cmd.CombinedOutput() // it fails when it finds something
		return string(out)
	}
	if out := vet("./..."); out != "" {
		t.Errorf("plain go vet says:\n%s", out)
	}
	got, want := lines(vet("-vettool="+tool, "./...")), lines(string(block[1]))
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	alone := exec.CommandContext(t.Context(), tool, "./...") // as go tool runs it
	alone.Dir = "example"
	out, err := alone.CombinedOutput()
	if got := lines(string(out)); err == nil || !slices.Equal(got, want) {
		t.Errorf("by itself, %v:\n%s\nwant:\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if out := vet("-vettool="+tool, "-fix", "-diff", "./..."); !strings.Contains(out, "rpcerr.InternalError(err.Error()).WithCause(err)") {
		t.Errorf("-diff does not show the fix:\n%s", out)
	}
}

// lines returns the findings without the additions of go vet. They are sorted, because the order of
// the analyzers varies.
func lines(out string) []string {
	var found []string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	slices.Sort(found)
	return found
}
