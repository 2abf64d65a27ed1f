package errlint

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Nil checks that success is not returned as an error.
var Nil = &analysis.Analyzer{
	Name: "errnil",
	Doc: `check that a nil pointer does not become an error

Functions such as classify.Error and rpcerr.From return a nil pointer for nil. Converted
to the type error it is not nil any more: the caller sees a failure. Use classify.Wrap, or
check for nil first.`,
	URL:      "https://go.dev/doc/faq#nil_error",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runNil,
}

// nilForNil are the functions that return a nil pointer for a nil argument.
var nilForNil = map[string]bool{
	pathCore + ".From":                     true,
	pathFind + ".Error":                    true,
	"(*" + pathFind + ".Classifier).Error": true,
	pathKind + ".FromRequestError":         true,
	pathTool + ".FromRequestError":         true,
	pathTool + ".FromRecord":               true,
}

// nilUnlessOK are the functions that return a nil pointer and false.
var nilUnlessOK = map[string]bool{
	pathKind + ".From":         true,
	pathKind + ".FromToolCall": true,
	pathTool + ".From":         true,
	pathTool + ".FromToolCall": true,
}

func runNil(pass *analysis.Pass) (any, error) {
	if !uses(pass) {
		return nil, nil
	}
	f := flowOf(pass)
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack([]ast.Node{(*ast.CallExpr)(nil), (*ast.Ident)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		e := n.(ast.Expr)
		if !push || !isOurs(pass.TypesInfo.TypeOf(e)) || !becomesError(pass, e, stack) {
			return true
		}
		call, ok := f.value(e, e.Pos()).(*ast.CallExpr)
		fn := calleeOf(pass, f.value(e, e.Pos()))
		switch {
		case !ok || fn == nil || len(call.Args) != 1:
			return true
		case nilUnlessOK[fn.FullName()]:
			if !ignoresOK(f, e) {
				return true
			}
		case !nilForNil[fn.FullName()] || !mayBeNil(pass, call.Args[0], stack):
			return true
		}
		if call != e && !mayBeNil(pass, e, stack) {
			return true // the variable was compared with nil
		}
		d := analysis.Diagnostic{Pos: e.Pos(), End: e.End(), Category: "error-typed-nil",
			Message: "a nil pointer in an error is not nil: if nothing failed, the caller sees a failure; use classify.Wrap or check for nil first"}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && call == e && fn.Pkg().Path() == pathFind {
			d.SuggestedFixes = []analysis.SuggestedFix{{
				Message:   "Keep nil nil",
				TextEdits: []analysis.TextEdit{{Pos: sel.Sel.Pos(), End: sel.Sel.End(), NewText: []byte("Wrap")}},
			}}
		}
		pass.Report(d)
		return true
	})
	return nil, nil
}

// ignoresOK reports whether the variable was assigned by a call whose second result is ignored.
func ignoresOK(f *flow, e ast.Expr) bool {
	obj := object(f.pass, e)
	if obj == nil {
		return false
	}
	a, _ := f.last(obj, e.Pos())
	assign, ok := a.stmt.(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 {
		return false
	}
	id, ok := assign.Lhs[1].(*ast.Ident)
	return ok && id.Name == "_"
}

// becomesError reports whether a value is converted to the type error: returned, assigned,
// or given to a function.
func becomesError(pass *analysis.Pass, e ast.Expr, stack []ast.Node) bool {
	switch parent := stack[len(stack)-2].(type) {
	case *ast.ReturnStmt:
		sig := signatureOf(pass, stack)
		if sig == nil || sig.Results().Len() != len(parent.Results) {
			return false
		}
		for i, r := range parent.Results {
			if r == e {
				return isErrorInterface(sig.Results().At(i).Type())
			}
		}
	case *ast.AssignStmt:
		for i, r := range parent.Rhs {
			if r == e && len(parent.Lhs) == len(parent.Rhs) && parent.Tok == token.ASSIGN {
				return isErrorInterface(pass.TypesInfo.TypeOf(parent.Lhs[i]))
			}
		}
	case *ast.ValueSpec:
		return parent.Type != nil && isErrorInterface(pass.TypesInfo.TypeOf(parent.Type))
	case *ast.CallExpr:
		sig, ok := pass.TypesInfo.TypeOf(parent.Fun).(*types.Signature)
		for i, arg := range parent.Args {
			if arg != e || !ok || parent.Ellipsis.IsValid() {
				continue
			}
			last := sig.Params().Len() - 1
			if sig.Variadic() && i >= last {
				list, ok := sig.Params().At(last).Type().(*types.Slice)
				return ok && isErrorInterface(list.Elem())
			}
			return i <= last && isErrorInterface(sig.Params().At(i).Type())
		}
	}
	return false
}

// signatureOf returns the signature of the innermost function around a node.
func signatureOf(pass *analysis.Pass, stack []ast.Node) *types.Signature {
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.FuncLit:
			sig, _ := pass.TypesInfo.TypeOf(n).(*types.Signature)
			return sig
		case *ast.FuncDecl:
			if fn, ok := pass.TypesInfo.Defs[n.Name].(*types.Func); ok {
				return fn.Signature()
			}
			return nil
		}
	}
	return nil
}

// mayBeNil reports whether the argument may be nil: whether no function around it compares
// it with nil. A function that does so anywhere is believed.
func mayBeNil(pass *analysis.Pass, arg ast.Expr, stack []ast.Node) bool {
	switch e := ast.Unparen(arg).(type) {
	case *ast.CallExpr:
		fn := callee(pass, e)
		return fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "errors" && fn.Pkg().Path() != "fmt"
	case *ast.Ident:
		obj := pass.TypesInfo.Uses[e]
		if v, ok := obj.(*types.Var); !ok || v.Parent() == pass.Pkg.Scope() {
			return false
		}
		asked := false
		for _, n := range stack {
			body := bodyOf(n)
			if body == nil {
				continue
			}
			ast.Inspect(body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					asked = asked || (n.Op == token.EQL || n.Op == token.NEQ) && (mentions(pass, n.X, obj) || mentions(pass, n.Y, obj))
				case *ast.CallExpr:
					for _, v := range inquiry(pass, n) {
						asked = asked || v == obj
					}
				case *ast.TypeSwitchStmt:
					asked = asked || mentions(pass, n.Assign, obj)
				}
				return !asked
			})
		}
		return !asked
	}
	return false
}
