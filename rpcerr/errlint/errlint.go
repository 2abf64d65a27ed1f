// Package errlint holds analyzers for programs that use the errors of
// github.com/acpkit/go-sdk/rpcerr. Experimental: it may change in any release. They find what
// neither the compiler nor a first run finds: a contract with a weak recovery, a cause that is
// dropped, the text of an error of another package in a message for the peer.
//
//	go get -tool github.com/acpkit/go-sdk/rpcerr/errlint/cmd/errlint@latest
//	go tool errlint ./...
//
// There are no severities: each finding makes go vet fail, and a comment in the line suppresses one.
//
// This works from v0.1.0 on. Add -fix to apply the suggested fixes. The name of an analyzer, as in
// -errcause, runs that one alone. README.md lists the rules.
package errlint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Analyzers returns all analyzers. Their names are those of README.md.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		contractAnalyzer, failAnalyzer, factoryAnalyzer, useAnalyzer, embedAnalyzer, plainAnalyzer, causeAnalyzer, textAnalyzer, nilAnalyzer,
	}
}

// The packages whose use is checked. They are known by path alone, so that this
// module does not depend on the one it checks.
const (
	module   = "github.com/acpkit/go-sdk"
	pathACP  = module + "/acp"
	pathACP2 = module + "/draft2/acp"
	pathCore = module + "/rpcerr"
	pathKind = pathCore + "/kind"
	pathDecl = pathCore + "/contract"
	pathTool = pathCore + "/toolerr"
	pathCode = pathCore + "/toolcode"
	pathFind = pathCore + "/classify"

	pathTools = module + "/agent/tools"
	pathKit   = module + "/agent/kit"
)

// uses reports whether the package under analysis imports one of ours. Most packages that go vet
// checks do not.
func uses(pass *analysis.Pass) bool {
	if inside(pass.Pkg.Path()) {
		return false // they build the errors; the rules are for those who use them
	}
	return slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool {
		return inside(p.Path()) || isVocabulary(p.Path()) || p.Path() == pathTools || p.Path() == pathKit
	})
}

// analyzer returns an analyzer that runs on the packages which import one of ours.
func analyzer(name, url, doc string, run func(*analysis.Pass, *inspector.Inspector), requires ...*analysis.Analyzer) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, URL: url, Doc: doc, Requires: append(requires, inspect.Analyzer),
		Run: func(pass *analysis.Pass) (any, error) {
			if uses(pass) {
				run(pass, pass.ResultOf[inspect.Analyzer].(*inspector.Inspector))
			}
			return nil, nil
		},
	}
}

// report reports a diagnostic, with a fix if there are edits, unless the source says that it is meant.
func report(pass *analysis.Pass, at ast.Node, category, message string, edits ...analysis.TextEdit) {
	if ignored(pass, at) {
		return
	}
	d := analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Category: category, Message: message}
	if edits != nil {
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: fixes[category], TextEdits: edits}}
	}
	pass.Report(d)
}

// ignored reports whether a node is in a test, where errors stand in for those of others, or whether
// its line has the comment that it is meant, with a reason.
func ignored(pass *analysis.Pass, at ast.Node) bool {
	here := pass.Fset.Position(at.Pos())
	if strings.HasSuffix(here.Filename, "_test.go") {
		return true
	}
	for _, file := range pass.Files {
		if !encloses(file, at.Pos()) {
			continue
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				reason, ok := strings.CutPrefix(c.Text, "//errlint:ignore ")
				if ok && strings.TrimSpace(reason) != "" && pass.Fset.Position(c.Pos()).Line == here.Line {
					return true
				}
			}
		}
	}
	return false
}

// fixes are the descriptions of the suggested fixes, by category.
var fixes = map[string]string{
	"error-factory": "Use the factory", "contract-prefer-fail": "Fail with the declared reason", "error-text": "Make it the cause",
	"error-cause": "Keep the cause",
}

func edit(from, to token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: from, End: to, NewText: []byte(text)}
}

// visit calls f for each node of the given types. The stack ends with the node.
func visit(in *inspector.Inspector, types []ast.Node, f func(n ast.Node, stack []ast.Node)) {
	in.WithStack(types, func(n ast.Node, push bool, stack []ast.Node) bool {
		if push {
			f(n, stack)
		}
		return true
	})
}

// isVocabulary reports whether the path is that of package acp, of any version.
func isVocabulary(path string) bool { return path == pathACP || path == pathACP2 }

func inside(path string) bool {
	ours := []string{pathCore, pathKind, pathDecl, pathTool, pathCode, pathFind, pathCore + "/retry"}
	return slices.Contains(ours, strings.TrimSuffix(path, "_test"))
}

// failing returns the error with which a call ends a tool call, or nil.
func failing(pass *analysis.Pass, call *ast.CallExpr) ast.Expr {
	switch called(pass, call) {
	case "(*" + module + "/agent.ToolCall).Fail", pathACP + ".FailToolCall":
		if len(call.Args) == 2 {
			return call.Args[1]
		}
	}
	return nil
}

// callee returns the function or method that a call names, or nil.
func callee(pass *analysis.Pass, call *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	return f
}

// called returns the full name of the function or method that e calls, or "".
func called(pass *analysis.Pass, e ast.Expr) string {
	if fn := calleeOf(pass, e); fn != nil {
		return fn.FullName()
	}
	return ""
}

func calleeOf(pass *analysis.Pass, e ast.Expr) *types.Func {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return callee(pass, call)
	}
	return nil
}

// receiver returns the expression before the name of a method, or nil.
func receiver(call *ast.CallExpr) ast.Expr {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// isNamed reports whether t, or what it points to, is the type path.name.
func isNamed(t types.Type, path, name string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

func stringOf(pass *analysis.Pass, e ast.Expr) (string, bool) {
	tv, ok := pass.TypesInfo.Types[e]
	if !ok || tv.Value == nil || tv.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(tv.Value), true
}

func intOf(pass *analysis.Pass, e ast.Expr) (int64, bool) {
	tv, ok := pass.TypesInfo.Types[e]
	if !ok || tv.Value == nil || tv.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(tv.Value)
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func isError(pass *analysis.Pass, e ast.Expr) bool {
	t := pass.TypesInfo.TypeOf(e)
	return t != nil && t != types.Typ[types.UntypedNil] && types.Implements(t, errorType)
}

// kindConstants returns the constants of package kind by value, as far as the package
// under analysis can see it.
func kindConstants(pkg *types.Package) map[string]string {
	names := map[string]string{}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && isNamed(c.Type(), pathKind, "Kind") {
			names[constant.StringVal(c.Val())] = name
		}
	}
	return names
}

// mentions reports whether the object is used anywhere below n.
func mentions(pass *analysis.Pass, n ast.Node, obj types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && pass.TypesInfo.Uses[id] == obj {
			found = true
		}
		return !found
	})
	return found
}
