// Package gosdk_test holds the rules that concern the module as a whole: who may
// import whom, what may stand in a public signature, and how code is written.
package gosdk_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/acpkit/go-sdk"

// An importRule says what the packages below one path may import besides the
// standard library. Names without a dot in the first element are folders of this
// module; a trailing /... stands for the folder and all below it.
type importRule struct {
	pkg string
	may []string
	why string
}

// The first rule that fits a package holds for it.
var importRules = []importRule{
	{"stream", nil,
		"bytes travel without knowing what they mean, so that anybody can write a stream"},
	{"stream/...", []string{"stream", "internal/leak"},
		"helpers that test a stream know no more than a stream, and what it leaves behind"},
	{"rpcerr", nil,
		"callers that only catch codes link nothing else"},
	{"rpcerr/retry", []string{"rpcerr/...", "acp", "github.com/cenkalti/backoff/v5"},
		"backing off is the one thing the error systems take from elsewhere"},
	{"rpcerr/...", []string{"rpcerr/...", "acp", "internal/validate"},
		"error systems build on the core and know the vocabulary, never a connection"},
	{"acp", []string{"internal/wire", "rpcerr"},
		"the vocabulary has no connection and no I/O"},
	{"internal/wire", []string{"github.com/go-json-experiment/json/jsontext"},
		"it lies below everything"},
	{"internal/validate", []string{"rpcerr", "internal/wire", "github.com/go-playground/validator/v10"},
		"validator is an implementation detail of one package"},
	{"internal/rpc", []string{"stream", "rpcerr", "internal/wire", "internal/validate", "github.com/sourcegraph/jsonrpc2"},
		"the engine serves every wire version, so it must not know one of them; jsonrpc2 is its detail"},
	{"internal/endpoint", []string{"acp", "stream", "rpcerr", "internal/rpc", "internal/wire"},
		"what both ends share, under the rules of the ends"},
	{"agent", []string{"acp", "stream", "rpcerr", "internal/rpc", "internal/endpoint", "internal/wire"},
		"an agent does not link the client's end, nor an error system it does not use"},
	{"client", []string{"acp", "stream", "rpcerr", "internal/rpc", "internal/endpoint", "internal/wire"},
		"a client does not link the agent's end, nor an error system it does not use"},
	{"internal/gen", []string{"internal/schema"},
		"the generator must run when the generated code does not compile"},
	{"internal/schema", nil,
		"facts only"},
	{"internal/leak", nil,
		"a helper of tests that any package may use"},
	{"examples/...", []string{"acp", "agent", "client", "rpcerr/...", "stream"},
		"people copy examples into modules that cannot import internal packages"},
	{"internal/hardening/...", []string{"acp", "agent", "client", "rpcerr/...", "stream", "internal/...",
		"github.com/stretchr/testify/assert", "github.com/stretchr/testify/require"},
		"what its tests share makes assertions too"},
	{"internal/...", []string{"acp", "agent", "client", "rpcerr/...", "stream", "internal/..."},
		"tools and tests of the project may use all of it, and nothing from elsewhere"},
}

func TestImportDirections(t *testing.T) {
	for _, goos := range []string{"linux", "windows", "darwin"} {
		for _, p := range listPackages(t, goos) {
			name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
			if name == "" {
				continue // the root holds tests alone
			}
			i := slices.IndexFunc(importRules, func(r importRule) bool { return matches(r.pkg, name) })
			if !assert.GreaterOrEqual(t, i, 0, "%s has no rule in importRules: decide what it may import", name) {
				continue
			}
			rule := importRules[i]
			for _, imported := range p.Imports {
				if isStandard(imported) {
					continue
				}
				imported = strings.TrimPrefix(imported, module+"/")
				ok := slices.ContainsFunc(rule.may, func(pattern string) bool { return matches(pattern, imported) })
				assert.True(t, ok, "%s: %s must not import %s: %s", goos, name, imported, rule.why)
			}
		}
	}
}

func TestConfinedDependencies(t *testing.T) {
	for dependency, rule := range map[string]struct {
		home, why string
	}{
		"github.com/sourcegraph/jsonrpc2":        {"internal/rpc", "it can then be replaced in one place"},
		"github.com/go-playground/validator/v10": {"internal/validate", "it can then be replaced in one place"},
		"github.com/stretchr/testify":            {"", "users must not link what only tests need"},
		"github.com/go-json-experiment/json":     {"internal/wire", "it is still an experiment"},
		"github.com/cenkalti/backoff/v5":         {"rpcerr/retry", "who does not retry must not link it"},
	} {
		for _, p := range listPackages(t, "linux") {
			name := strings.TrimPrefix(p.ImportPath, module+"/")
			for _, imported := range p.Imports {
				if rule.home == "" && matches("internal/hardening/...", name) {
					continue // what the hardening tests share
				}
				if matches(dependency+"/...", imported) {
					assert.Equal(t, rule.home, name, "%s imports %s: %s", name, imported, rule.why)
				}
			}
		}
	}
}

// matches tells whether name is pattern, or lies below a pattern with /... at the end.
func matches(pattern, name string) bool {
	if base, below := strings.CutSuffix(pattern, "/..."); below {
		return name == base || strings.HasPrefix(name, base+"/")
	}
	return name == pattern
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

type listed struct {
	ImportPath   string
	Dir          string
	Imports      []string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

// listPackages asks the go command for the packages of this module.
func listPackages(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// A source is one Go file of the module.
type source struct {
	pkg       string // the folder, relative to the root
	path      string
	test      bool
	generated bool
	lines     int
	text      []byte
	file      *ast.File
}

func (s *source) public() bool {
	return !s.test && s.pkg != "." && s.file.Name.Name != "main" && !strings.HasPrefix(s.pkg, "internal/")
}

var fset = token.NewFileSet()

// sources parses every Go file of the module, on all systems, without those of
// nested modules.
var sources = sync.OnceValues(func() ([]*source, error) {
	var all []*source
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".":
			_, nested := os.Stat(filepath.Join(name, "go.mod"))
			if nested == nil || d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, &source{
			pkg: filepath.ToSlash(filepath.Dir(name)), path: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(file), lines: bytes.Count(text, []byte("\n")), text: text, file: file,
		})
		return nil
	})
	return all, err
})

func eachSource(t *testing.T, visit func(*source)) {
	t.Helper()
	all, err := sources()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, s := range all {
		visit(s)
	}
}

func at(n ast.Node) string {
	p := fset.Position(n.Pos())
	return filepath.ToSlash(p.Filename) + ":" + path.Base(p.String())[len(path.Base(p.Filename))+1:]
}
