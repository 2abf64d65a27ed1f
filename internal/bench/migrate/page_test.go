// Package migrate checks docs/coming-from-coder.md: it has every exported name of
// github.com/coder/acp-go-sdk, and every name that it gives in exchange exists.
package migrate

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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

// exported returns the exported names of the package in dir. Methods and fields are written as
// Type.Name.
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
	module := coder(t)
	text := page(t)
	assert.True(t, strings.Contains(text, module.Version), module.Version)
	missing, there := []string{}, exported(t, module.Dir)
	for name := range there {
		if !strings.Contains(name, ".") && !strings.Contains(text, "`"+name+"`") { // methods and fields follow their type
			missing = append(missing, name)
		}
	}
	assert.Empty(t, missing, "names that are not on the page")
	gone := []string{}
	for line := range strings.Lines(text) {
		if row, ok := strings.CutPrefix(line, "| "); ok { // the names there stand in the first column
			line, _, _ = strings.Cut(row, " |")
		}
		for _, m := range regexp.MustCompile("`([A-Z]\\w*)`").FindAllStringSubmatch(line, -1) {
			if !there[m[1]] {
				gone = append(gone, m[1])
			}
		}
	}
	assert.Empty(t, gone, "names that do not exist there")
}

// The table of fields says what the compiler reports.
func TestTypesOfFields(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/coming-from-coder.md"))
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n## What has another type\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)\\.(\\w+)` \\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(section, -1)
	require.NotEmpty(t, rows)
	there, here := fields(t, coder(t).Dir), fields(t, filepath.Join(root, "acp"))
	for _, row := range rows {
		name := strings.ToLower(row[1] + "." + row[2]) // initials are in one case here
		assert.Equal(t, row[3], there[name], "%s, there", row[0])
		assert.Equal(t, row[4], here[name], "%s, here", row[0])
	}
}

// fields returns the types of the fields of a package, by their names in lower case.
func fields(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, id := range f.Names {
						all[strings.ToLower(spec.Name.Name+"."+id.Name)] = types.ExprString(f.Type)
					}
				}
			}
			return true
		})
	}
	return all
}

type module struct{ Dir, Version string }

func coder(t *testing.T) (m module) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-json", "github.com/coder/acp-go-sdk").Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &m))
	return m
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

// A variant of a union is a pointer.
func TestVariantsArePointers(t *testing.T) {
	variants := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "acp", "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func \(\*(\w+)\) is[A-Z]\w*\(\)\s*\{\}$`).FindAllStringSubmatch(string(text), -1) {
			variants[m[1]] = true
		}
	}
	require.NotEmpty(t, variants)
	named, _, _ := strings.Cut(page(t), "\n## What is spelled otherwise\n")
	for _, m := range regexp.MustCompile("(?m)^\\| `.*` \\| `acp\\.(\\w+)` \\|$").FindAllStringSubmatch(named, -1) {
		assert.False(t, variants[m[1]], "%s: a program uses a pointer", m[0])
	}
}
