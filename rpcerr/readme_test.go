package rpcerr_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/wine"
)

// imports are the packages that the programs of the README use.
var imports = []string{
	"context", "encoding/json", "errors", "fmt", "log/slog", "net/http", "os", "os/exec", "strings", "time",
	"acp", "agent", "client", "rpcerr", "rpcerr/classify", "rpcerr/contract", "rpcerr/toolcode", "rpcerr/kind", "rpcerr/retry", "rpcerr/toolerr", "stream",
}

// TestReadmePrograms compiles each program of the README, and holds that each row of the
// table has one.
func TestReadmePrograms(t *testing.T) {
	wine.Lacks(t, "a go command")
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	sections := regexp.MustCompile("(?s)\n## (\\d+)\\. ([^\n]+)\n(.*?)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	require.NotEmpty(t, sections)
	assert.Len(t, regexp.MustCompile("```go\n").FindAll(readme, -1), len(sections), "a program has no section")

	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	overlay := map[string]string{}
	args := []string{"build", "-overlay", filepath.Join(dir, "overlay.json")}
	for i, s := range sections {
		anchor := "#" + string(s[1]) + "-" + strings.ReplaceAll(strings.ToLower(string(s[2])), " ", "-")
		assert.Contains(t, string(readme), fmt.Sprintf("| [%d](%s) |", i+1, anchor), "no row leads to %q", s[2])
		name := "readme" + string(s[1])
		file := filepath.Join(dir, name+".go")
		require.NoError(t, os.WriteFile(file, []byte(program(t, string(s[4]))), 0o600))
		overlay[filepath.Join(root, "rpcerr", name, "program.go")] = file
		args = append(args, "./rpcerr/"+name)
	}
	b, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), b, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

// program returns a Go file with the declarations: it adds the package, the imports, and uses of
// the unused ones.
func program(t *testing.T, decls string) string {
	var b strings.Builder
	b.WriteString("package readme\n\nimport (\n")
	code := regexp.MustCompile(`//.*`).ReplaceAllString(decls, "")
	for _, path := range imports {
		name := path[strings.LastIndex(path, "/")+1:]
		if !regexp.MustCompile(`\b` + name + `\.`).MatchString(code) {
			continue
		}
		if i := slices.Index(imports, "acp"); slices.Index(imports, path) >= i {
			path = "github.com/acpkit/go-sdk/" + path
		}
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n\n" + decls + "\nvar _ = []any{")
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+decls, 0)
	require.NoError(t, err, decls)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			b.WriteString(fn.Name.Name + ", ")
		}
	}
	b.WriteString("}\n")
	return b.String()
}
