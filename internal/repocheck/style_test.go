package repocheck_test

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Types of other modules in a signature would make their versions part of ours, and
// internal types could not be named by those who get them.
func TestNoForeignTypesInSignatures(t *testing.T) {
	eachSource(t, func(s *source) {
		if !s.public() {
			return
		}
		foreign := map[string]string{} // by local name
		for _, spec := range s.file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			local := name[strings.LastIndex(name, "/")+1:]
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if !isStandard(name) && !strings.HasPrefix(name, module+"/") || strings.Contains(name, "/internal/") {
				foreign[local] = name
			}
		}
		if slices.Contains([]string{"stream/objectstream", "agent/onjsonrpc2", "client/onjsonrpc2"}, s.pkg) {
			delete(foreign, "jsonrpc2") // whose types are their purpose
		}
		check := func(node ast.Node) {
			ast.Inspect(node, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok {
						assert.NotContains(t, foreign, x.Name, "%s: %s.%s stands in a public signature", at(n), x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
		for name, node := range declared(s.file) {
			owner, method, ok := strings.Cut(name, ".")
			if !ast.IsExported(owner) || ok && !ast.IsExported(method) {
				continue
			}
			switch node := node.(type) {
			case *ast.FuncDecl:
				check(node.Type)
			case *ast.TypeSpec:
				for _, part := range visible(node.Type) {
					check(part)
				}
			case *ast.ValueSpec:
				if node.Type != nil {
					check(node.Type)
				}
			}
		}
	})
}

// visible returns the parts of a type that are exported.
func visible(expr ast.Expr) []ast.Node {
	var list *ast.FieldList
	switch x := expr.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return []ast.Node{expr}
	}
	var nodes []ast.Node
	for _, field := range list.List {
		if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
			nodes = append(nodes, field.Type)
		}
	}
	return nodes
}

func exportedReceiver(d *ast.FuncDecl) bool {
	return d.Recv == nil || ast.IsExported(receiverName(d))
}

// receiverName returns the name of the type whose method d is.
func receiverName(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// selfExplaining are methods whose contract stands where they come from.
var selfExplaining = []string{
	"Error", "String", "Unwrap", "Is", "As", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "LogValue", "GoString", "Format",
}

// explainedElsewhere reports whether the contract of a function stands where it comes from: those of the
// wrappers in the interfaces, those that decode a union in the comment of package acp.
func explainedElsewhere(s *source, d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return path.Base(s.pkg) == "acp" && strings.HasPrefix(d.Name.Name, "Unmarshal")
	}
	return slices.Contains(selfExplaining, d.Name.Name) || slices.Contains([]string{"AgentWrapper", "ClientWrapper"}, receiverName(d))
}

// A name without a comment is a name a user has to guess at. That of a constant may stand beside it, without the name.
func TestExportedNamesHaveComments(t *testing.T) {
	eachSource(t, func(s *source) {
		if !s.public() {
			return
		}
		documented := func(n ast.Node, name string, docs ...*ast.CommentGroup) {
			for _, doc := range docs {
				if text := strings.TrimSpace(doc.Text()); begins(text, name) {
					return
				}
			}
			assert.Fail(t, "no comment that begins with the name", "%s: %s", at(n), name)
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && !explainedElsewhere(s, d) {
					documented(d, d.Name.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							documented(spec, spec.Name.Name, spec.Doc, d.Doc)
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							if name.IsExported() && spec.Comment.Text() == "" && !(d.Doc != nil && spec.Doc == nil && len(d.Specs) > 1) {
								documented(spec, name.Name, spec.Doc, d.Doc)
							}
						}
					}
				}
			}
		}
	})
}

// core are the packages whose names stay as they are from one release to the next, but for a new major version.
var core = []string{"acp", "agent", "client", "rpcerr", "stream", "stream/remote", "stream/streamhttp", "stream/websocket"}

// A reader of any other package is told by its second sentence that it may change.
func TestOtherPackagesAreExperimental(t *testing.T) {
	eachSource(t, func(s *source) {
		if s.public() && !strings.HasPrefix(s.pkg, "examples/") && strings.HasPrefix(s.file.Doc.Text(), "Package ") {
			text := strings.Join(strings.Fields(s.file.Doc.Text()), " ")
			assert.Equal(t, !slices.Contains(core, s.pkg), strings.Contains(text, ". Experimental: it may change in any release."), "%s", s.path)
		}
	})
}

// begins reports whether a comment starts with the name, after an article if there is one.
func begins(text, name string) bool {
	for _, article := range []string{"", "A ", "An ", "The "} {
		rest, ok := strings.CutPrefix(text, article+name)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], " \n,.:;'")) {
			return true
		}
	}
	return false
}

// A function that takes an error and returns a pointer to an error type returns nil for nil, and the caller
// that returns it as an error fails without a reason. Methods that refine an error are not meant, nor those that build one
// from a format.
func TestErrorsOfErrorsAreNoPointers(t *testing.T) {
	eachSource(t, func(s *source) {
		for _, decl := range s.file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || !s.public() || !d.Name.IsExported() || !exportedReceiver(d) || d.Type.Results.NumFields() != 1 {
				continue
			}
			pointer, ok := d.Type.Results.List[0].Type.(*ast.StarExpr)
			result := types.ExprString(d.Type.Results.List[0].Type)
			if !ok || !strings.HasSuffix(result, "Error") || d.Recv != nil && types.ExprString(pointer.X) == receiverName(d) {
				continue
			}
			if list := d.Type.Params.List; len(list) > 0 {
				if _, format := list[len(list)-1].Type.(*ast.Ellipsis); format {
					continue
				}
			}
			for _, param := range d.Type.Params.List {
				assert.NotEqual(t, "error", types.ExprString(param.Type), "%s: %s returns %s: let it return error", at(d), d.Name.Name, result)
			}
		}
	})
}

// Long files hide more than one idea: 200 lines are plenty, 400 are seldom needed.
func TestFilesAreShort(t *testing.T) {
	eachSource(t, func(s *source) {
		if !s.test && !s.generated {
			assert.LessOrEqual(t, s.lines, 450, "%s: split it by its ideas", s.path)
		}
	})
}

// A goroutine that never ends is a leak; the comment makes its author think of it.
func TestGoStatementsSayWhatEndsThem(t *testing.T) {
	eachSource(t, func(s *source) {
		if s.test {
			return
		}
		commented := map[int]bool{}
		for _, group := range s.file.Comments {
			for line := fset.Position(group.Pos()).Line; line <= fset.Position(group.End()).Line; line++ {
				commented[line] = true
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				line := fset.Position(g.Pos()).Line
				assert.True(t, commented[line] || commented[line-1], "%s: say in a comment what ends this goroutine", at(g))
			}
			return true
		})
	})
}

// A test that sleeps is slow if it passes and wrong if the machine is busy. In a bubble sleeping takes no
// time. Tests of real processes are no exception: they wait for what the process does.
func TestTestsSleepInBubbles(t *testing.T) {
	eachSource(t, func(s *source) {
		if !s.test || slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` }) {
			return
		}
		lines := strings.Split(string(s.text), "\n")
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && types.ExprString(sel) == "time.Sleep" {
				assert.Contains(t, lines[fset.Position(n.Pos()).Line-1], "//", "%s: sleep in a bubble of testing/synctest, or say in this line why not", at(n))
			}
			return true
		})
	})
}

// Unfinished work is an item for an issue.
func TestNothingIsUnfinished(t *testing.T) {
	eachSource(t, func(s *source) {
		for _, group := range s.file.Comments {
			for _, word := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"} {
				assert.NotContains(t, group.Text(), word, at(group))
			}
		}
	})
}
