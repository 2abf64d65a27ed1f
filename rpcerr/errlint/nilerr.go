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

Functions such as classify.Error and rpcerr.From return a nil pointer for nil. Put into
a variable of type error that is not nil any more: the caller sees a failure. Ask before
whether there is an error.`,
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

func runNil(pass *analysis.Pass) (any, error) {
	if !uses(pass) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		call := n.(*ast.CallExpr)
		fn := callee(pass, call)
		if !push || fn == nil || !nilForNil[fn.FullName()] || len(call.Args) != 1 || !becomesError(pass, call, stack) {
			return true
		}
		if mayBeNil(pass, call.Args[0], stack) {
			pass.Report(analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Category: "error-typed-nil",
				Message: "a nil pointer in an error is not nil: when nothing failed, the caller sees a failure; check for nil first"})
		}
		return true
	})
	return nil, nil
}

// becomesError tells whether a call's result is returned as an error or assigned to one.
func becomesError(pass *analysis.Pass, call *ast.CallExpr, stack []ast.Node) bool {
	switch parent := stack[len(stack)-2].(type) {
	case *ast.ReturnStmt:
		sig := signatureOf(pass, stack)
		if sig == nil || sig.Results().Len() != len(parent.Results) {
			return false
		}
		for i, r := range parent.Results {
			if r == call {
				return types.IsInterface(sig.Results().At(i).Type())
			}
		}
	case *ast.AssignStmt:
		for i, r := range parent.Rhs {
			if r == call && len(parent.Lhs) == len(parent.Rhs) && parent.Tok == token.ASSIGN {
				t := pass.TypesInfo.TypeOf(parent.Lhs[i])
				return t != nil && types.IsInterface(t)
			}
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

// mayBeNil tells whether nobody in the function asked if the argument is nil. A function
// that asks anywhere is believed.
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
