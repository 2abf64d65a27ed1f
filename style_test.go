package gosdk_test

import (
	"go/ast"
	"go/token"
	"maps"
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

// bubbles are the functions that run a function in a synctest bubble.
var bubbles = map[string]bool{
	"synctest.Test": true, "bubble": true, "inBubble": true, "pairtest.Bubble": true,
	"scene": true, "overBoth": true, "eachVersion": true, // each of them makes the ends of a conversation first
}

// sleepers are the functions that may sleep outside of a literal for a bubble, and why.
var sleepers = map[string]string{
	"agent handle":                                          "it sleeps for no time outside of a bubble",
	"agent/kit SetMeta":                                     stores,
	"agent/kit Sync":                                        stores,
	"agent/kit TestFaults":                                  scripts,
	"draft2/serve/adapter TestCloseDuringATurn":             handlers,
	"draft2/serve/adapter dialogueWorks":                    handlers,
	"draft2/agent TestPromptThatOvertakesClose":             handlers,
	"draft2/agent dialogueWorks":                            handlers,
	"client/terminals startReady":                           "it runs in a child process and waits for another one",
	"draft2/client TestCtxOfAPrompt":                        handlers,
	"internal/endpoint pieces":                              scripts,
	"internal/rpc TestHandlersAtEndOfInput":                 handlers,
	"internal/rpc play":                                     scripts,
	"internal/rpc run":                                      scripts,
	"internal/rpc/outbox WriteBatch":                        streams,
	"internal/system/hardening/faults Write":                streams,
	"internal/system/hardening/faults closeByMany":          scripts,
	"internal/system/hardening/faults turnBeforeTheEnd2":    scripts,
	"internal/system/hardening/flood TestRequestsAtOnce":    handlers,
	"internal/system/hardening/flood TestUpdatesInRealTime": "its client is slow in real time, over pipes of the system",
	"internal/system/hardening/order CloseSession":          handlers,
	"internal/system/hardening/order Prompt":                handlers,
	"internal/system/hardening/order play":                  scripts,
	"internal/system/interop HandleExtension":               handlers,
	"internal/system/interop HandleExtensionNotification":   handlers,
	"internal/system/kit TestTurns":                         scripts,
	"internal/system/kit obey":                              scripts,
	"internal/system/kit turn":                              scripts,
	"internal/system/interop settle":                        scripts,
	"stream/streamhttp Read":                                streams,
	"internal/system/hardening/strangers slowBodies":        scripts,
	"stream/websocket TestInitializeForEver":                "it sleeps for no time over TCP",
}

const (
	handlers = "its handlers are called in the bubble of their connection"
	streams  = "its stream is used in bubbles only"
	scripts  = "its callers call it in a bubble"
	stores   = "its store is used in bubbles only"
)

// A test that sleeps is slow if it passes and wrong if the machine is busy. In a bubble sleeping
// takes no time. Tests of real processes are no exception: they wait for what the process does.
func TestTestsDoNotSleep(t *testing.T) {
	slept := map[string]bool{}
	eachSource(t, func(s *source) {
		if !s.test {
			return
		}
		for _, decl := range s.file.Decls {
			name := s.pkg + " " + declaredName(decl)
			sleeps(decl, func(n ast.Node) {
				slept[name] = true
				assert.NotEmpty(t, sleepers[name], "%s: %s sleeps", at(n), name)
			})
		}
	})
	for name := range sleepers {
		assert.Contains(t, slept, name, "it does not sleep")
	}
}

// sleeps calls found for each time.Sleep in node, and each receive from time.After outside of a
// select, except in function literals for a bubble.
func sleeps(node ast.Node, found func(ast.Node)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !bubbles[calledName(n)] {
				break
			}
			for _, arg := range n.Args {
				if _, literal := arg.(*ast.FuncLit); !literal {
					sleeps(arg, found)
				}
			}
			return false
		case *ast.CommClause:
			for _, stmt := range n.Body {
				sleeps(stmt, found)
			}
			return false
		case *ast.ExprStmt:
			if wait, ok := n.X.(*ast.UnaryExpr); ok && calledName(wait.X) == "time.After" {
				found(n)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name+"."+n.Sel.Name == "time.Sleep" {
				found(n)
			}
		}
		return true
	})
}

// calledName returns f for a call of f, and p.f for one of p.f.
func calledName(call ast.Expr) string {
	c, ok := call.(*ast.CallExpr)
	if !ok {
		return ""
	}
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// declaredName returns the name of a function, or of the first variable of a declaration.
func declaredName(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return ""
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
