package gosdk_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
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
		if !s.public() || s.pkg == "stream/objectstream" { // whose purpose is another module's types
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
		for _, decl := range s.file.Decls {
			for _, node := range signatures(decl) {
				check(node)
			}
		}
	})
}

// signatures returns what other packages can see of a declaration's types.
func signatures(decl ast.Decl) []ast.Node {
	var nodes []ast.Node
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && exportedReceiver(d) {
			nodes = append(nodes, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					nodes = append(nodes, visible(spec.Type)...)
				}
			case *ast.ValueSpec:
				if spec.Type != nil && slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
					nodes = append(nodes, spec.Type)
				}
			}
		}
	}
	return nodes
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

// A name without a comment is a name a user has to guess at.
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
				if d.Name.IsExported() && exportedReceiver(d) && !(d.Recv != nil && slices.Contains(selfExplaining, d.Name.Name)) {
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
							if name.IsExported() && !(d.Doc != nil && spec.Doc == nil && len(d.Specs) > 1) {
								documented(spec, name.Name, spec.Doc, spec.Comment, d.Doc)
							}
						}
					}
				}
			}
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

// Long files hide more than one idea: 200 lines are plenty, 400 are seldom needed.
func TestFilesAreShort(t *testing.T) {
	eachSource(t, func(s *source) {
		limit := 450
		switch {
		case s.test:
			return
		case s.generated:
			limit = 1500
		}
		assert.LessOrEqual(t, s.lines, limit, "%s: split it by its ideas", s.path)
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

// Tests that sleep are slow when they pass and wrong when the machine is busy;
// package testing/synctest does without. Tests of real processes are no exception:
// they wait for what the process does. Only main_test.go may hold sleepers, which are
// the child processes themselves.
func TestTestsDoNotSleep(t *testing.T) {
	bubbles := map[string]bool{} // folders whose tests run in bubbles, where sleeping takes no time
	eachSource(t, func(s *source) {
		if importsPackage(s.file, "testing/synctest") {
			bubbles[path.Dir(s.path)] = true
		}
	})
	eachSource(t, func(s *source) {
		if !s.test || path.Base(s.path) == "main_test.go" || bubbles[path.Dir(s.path)] {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" {
					assert.Fail(t, "a test sleeps", at(n))
				}
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

// otherWords are terms of the glossary in docs/architecture.md and forms of godoc by another
// name, each with the words to use instead.
var otherWords = map[string]string{
	"tell whether":          "report whether",
	"tells whether":         "reports whether",
	"complaint":             "violation",
	"complaints":            "violations",
	"on this side":          "at this end, of this end",
	"at the other side":     "at the other end, of the peer",
	"on the other side":     "at the other end, of the peer",
	"the other side's":      "the peer's",
	"closed its side":       "closed its end",
	"closes its side":       "closes its end",
	"answer to a call":      "response to a call",
	"answer to the call":    "response to the call",
	"answer to a request":   "response to a request",
	"answer to the request": "response to the request",
	"answer to the prompt":  "response to the prompt",
	"answer to initialize":  "response to initialize",
}

// expectedOutput matches the comment with the output of an example, as go test does.
var expectedOutput = regexp.MustCompile(`(?i)^\s*(?:unordered )?output:`)

// A thing has one name in comments, error texts and pages. In test files only comments are
// checked: the strings, and the output that examples print, are the data of the tests.
func TestOneNameForAThing(t *testing.T) {
	other := regexp.MustCompile(`(?i)\b(?:` + strings.Join(slices.Collect(maps.Keys(otherWords)), "|") + `)\b`)
	check := func(where, text string) {
		text = strings.Join(strings.Fields(text), " ") // phrases run over the ends of lines
		for _, found := range other.FindAllString(text, -1) {
			assert.Fail(t, "another name", "%s: %q: say %s", where, found, otherWords[strings.ToLower(found)])
		}
	}
	eachSource(t, func(s *source) {
		for _, group := range s.file.Comments {
			if !s.test || !expectedOutput.MatchString(group.Text()) {
				check(at(group), group.Text())
			}
		}
		if s.test {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					check(at(lit), text)
				}
			}
			return true
		})
	})
	for page, text := range documents(t) {
		check(page, string(text))
	}
}

func importsPackage(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == strconv.Quote(name) })
}
