package migrate

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

// exported returns the names that the package in dir declares for its users. Methods
// and fields stand as Type.Name.
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, field := range st.Fields.List {
								for _, n := range field.Names {
									names[s.Name.Name+"."+n.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	for name := range names {
		if last := name[strings.LastIndexByte(name, '.')+1:]; !ast.IsExported(last) || !ast.IsExported(name) {
			delete(names, name)
		}
	}
	return names
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/coming-from-coder.md"))
	require.NoError(t, err)
	_, tables, ok := strings.Cut(string(text), "\n## What is named otherwise\n")
	require.True(t, ok)
	return tables
}

func TestEveryNameIsOnThePage(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-json", "github.com/coder/acp-go-sdk").Output()
	require.NoError(t, err)
	var module struct{ Dir, Version string }
	require.NoError(t, json.Unmarshal(out, &module))
	text := page(t)
	assert.Contains(t, text, module.Version)
	for name := range exported(t, module.Dir) {
		if !strings.Contains(name, ".") { // methods and fields follow their type
			assert.Contains(t, text, "`"+name+"`")
		}
	}
}

func TestEveryNewNameExists(t *testing.T) {
	packages := map[string]map[string]bool{}
	for _, name := range []string{"acp", "agent", "client", "rpcerr", "stream"} {
		packages[name] = exported(t, filepath.Join(root, name))
	}
	found := regexp.MustCompile(`\b(acp|agent|client|rpcerr|stream)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`).FindAllStringSubmatch(page(t), -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.True(t, packages[m[1]][m[2]], "%s does not exist", m[0])
	}
}
