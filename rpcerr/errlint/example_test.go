package errlint_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadme runs the command that README.md shows, and wants what it shows.
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

// lines returns the findings without what go vet puts around them, sorted: the order
// of the analyzers is not fixed.
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
