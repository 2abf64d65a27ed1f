// Copied to acp/v2 by go generate.

package acp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The package doc links every interface and the params of every method, from which all other types
// can be reached. Every link refers to an existing name.
func TestPackageDocListsTypes(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	linked := map[string]bool{}
	for _, m := range regexp.MustCompile(`\[([A-Z]\w+)\]`).FindAllStringSubmatch(string(doc), -1) {
		linked[m[1]] = true
	}
	exported := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				exported[decl.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							exported[name.Name] = true
						}
					case *ast.TypeSpec:
						name := spec.Name.Name
						exported[name] = true
						_, iface := spec.Type.(*ast.InterfaceType)
						params := strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Notification")
						if ast.IsExported(name) && (iface || params) {
							assert.True(t, linked[name], "the package doc does not link [%s]", name)
						}
					}
				}
			}
		}
	}
	for name := range linked {
		assert.True(t, exported[name], "the package doc links [%s], which does not exist", name)
	}
}
