package errlint

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Cause checks that an error built because of another one keeps it.
var Cause = &analysis.Analyzer{
	Name: "errcause",
	Doc: `check that causes are not dropped

Where an error is returned because another one occurred, the other one belongs into it
with WithCause or %w: the log, errors.Is and errors.As need it, and the peer never sees
it.`,
	URL:      "https://pkg.go.dev/" + pathKind,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runCause,
}

func runCause(pass *analysis.Pass) (any, error) {
	if !uses(pass) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack([]ast.Node{(*ast.ReturnStmt)(nil), (*ast.CallExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		if !push {
			return true
		}
		var leaving []ast.Expr
		switch n := n.(type) {
		case *ast.ReturnStmt:
			leaving = n.Results
		case *ast.CallExpr:
			leaving = []ast.Expr{failing(pass, n)}
		}
		for _, result := range leaving {
			if c, ok := chainOf(pass, result); ok {
				checkCause(pass, c, result, occurred(pass, stack))
			}
		}
		return true
	})
	return nil, nil
}

// checkCause reports a chain that keeps none of the errors that led to it.
func checkCause(pass *analysis.Pass, c chain, result ast.Expr, errs []*types.Var) {
	if len(errs) == 0 {
		return
	}
	for _, err := range errs {
		if c.keeps(pass, err) {
			return
		}
	}
	d := analysis.Diagnostic{Pos: result.Pos(), End: result.End(), Category: "error-cause",
		Message: "this drops " + errs[0].Name() + ": add .WithCause(" + errs[0].Name() + "), the peer does not see it"}
	for _, call := range c.refining {
		if fn := callee(pass, call); fn != nil && fn.Name() == "WithCause" {
			pass.Report(d) // with another cause already, what to do is not for a tool to say
			return
		}
	}
	if scope := pass.Pkg.Scope().Innermost(result.Pos()); scope == nil || lookup(scope, errs[0].Name(), result.Pos()) != errs[0] {
		pass.Report(d) // the name means something else here
		return
	}
	d.SuggestedFixes = []analysis.SuggestedFix{{
		Message:   "Keep the cause",
		TextEdits: []analysis.TextEdit{{Pos: result.End(), End: result.End(), NewText: []byte(".WithCause(" + errs[0].Name() + ")")}},
	}}
	pass.Report(d)
}

func lookup(scope *types.Scope, name string, pos token.Pos) types.Object {
	_, obj := scope.LookupParent(name, pos)
	return obj
}

// occurred returns the error variables that the innermost condition around a
// statement found to hold an error.
func occurred(pass *analysis.Pass, stack []ast.Node) []*types.Var {
	for i := len(stack) - 2; i >= 0; i-- {
		var inside ast.Node
		if i+1 < len(stack) {
			inside = stack[i+1]
		}
		var errs []*types.Var
		switch n := stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.IfStmt:
			if inside == n.Body {
				errs = append(found(pass, n.Cond), asked(pass, n.Init)...)
			}
		case *ast.CaseClause:
			if i >= 2 && untagged(stack[i-2]) {
				for _, e := range n.List {
					errs = append(errs, found(pass, e)...)
				}
			}
		}
		if errs != nil {
			return errs
		}
	}
	return nil
}

func untagged(n ast.Node) bool {
	s, ok := n.(*ast.SwitchStmt)
	return ok && s.Tag == nil
}

// found returns the errors that are there when a condition holds: err != nil,
// err == io.EOF, errors.Is(err, ...) and other functions of that form.
func found(pass *analysis.Pass, cond ast.Expr) []*types.Var {
	switch e := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR:
			return append(found(pass, e.X), found(pass, e.Y)...)
		case token.NEQ:
			if isNil(pass, e.Y) {
				return variable(pass, e.X)
			}
		case token.EQL:
			if !isNil(pass, e.Y) {
				return variable(pass, e.X)
			}
		}
	case *ast.CallExpr:
		return inquiry(pass, e)
	}
	return nil
}

// inquiry returns the error that a function such as errors.Is is asked about.
func inquiry(pass *analysis.Pass, call *ast.CallExpr) []*types.Var {
	fn := callee(pass, call)
	if fn == nil || fn.Pkg() == nil || len(call.Args) == 0 {
		return nil
	}
	switch path, name := fn.Pkg().Path(), fn.Name(); {
	case path == "errors" && (name == "Is" || name == "As" || name == "AsType"),
		path == "os" && (name == "IsNotExist" || name == "IsExist" || name == "IsPermission" || name == "IsTimeout"):
		return variable(pass, call.Args[0])
	}
	return nil
}

// asked handles if e, ok := errors.AsType[T](err); ok.
func asked(pass *analysis.Pass, init ast.Stmt) []*types.Var {
	assign, ok := init.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	errs := inquiry(pass, call)
	if errs != nil {
		errs = append(errs, variable(pass, assign.Lhs[0])...) // the one that was found will do
	}
	return errs
}

func isNil(pass *analysis.Pass, e ast.Expr) bool {
	tv, ok := pass.TypesInfo.Types[e]
	return ok && tv.IsNil()
}

// variable returns the variable that e names when it holds an error.
func variable(pass *analysis.Pass, e ast.Expr) []*types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || !types.Implements(v.Type(), errorType) {
		return nil
	}
	return []*types.Var{v}
}
