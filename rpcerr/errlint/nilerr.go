package errlint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// nilAnalyzer checks that success is not returned as an error.
var nilAnalyzer = analyzer("errnil", "https://go.dev/doc/faq#nil_error", `check that a nil pointer does not become an error

A nil pointer to an error type that is converted to the type error is not nil any more: the
caller sees a failure. Check for nil first.`, runNil)

// nilUnlessOK are the functions that return a nil pointer and false.
var nilUnlessOK = map[string]bool{
	pathKind + ".From":         true,
	pathKind + ".FromToolCall": true,
}

func runNil(pass *analysis.Pass, in *inspector.Inspector) {
	f := flowOf(pass)
	returnsNil := nilReturns(pass, in)
	visit(in, []ast.Node{(*ast.CallExpr)(nil), (*ast.Ident)(nil)}, func(n ast.Node, stack []ast.Node) {
		e := n.(ast.Expr)
		if !isErrorPointer(pass.TypesInfo.TypeOf(e)) || !becomesError(pass, e, stack) {
			return
		}
		if f.neverSet(e, stack) && mayBeNil(pass, e, stack) {
			report(pass, e, "error-typed-nil", typedNil+"return nil, or check for it first")
			return
		}
		call, ok := f.value(e, e.Pos()).(*ast.CallExpr)
		fn := calleeOf(pass, f.value(e, e.Pos()))
		switch {
		case !ok || fn == nil:
			return
		case returnsNil[fn]:
			if call == e || mayBeNil(pass, e, stack) {
				report(pass, e, "error-typed-nil", typedNil+"check for it first, or let "+fn.Name()+" return error")
			}
			return
		case len(call.Args) != 1:
			return
		case nilUnlessOK[fn.FullName()]:
			if !ignoresOK(f, e) {
				return
			}
		case fn.FullName() != pathKind+".FromRequestError" || !mayBeNil(pass, call.Args[0], stack):
			return
		}
		if call != e && !mayBeNil(pass, e, stack) {
			return // the variable was compared with nil
		}
		report(pass, e, "error-typed-nil", typedNil+"check for nil first")
	})
}

const typedNil = "a nil pointer in an error is not nil: if nothing failed, the caller sees a failure; "

// isErrorPointer reports whether t is a pointer type that is an error.
func isErrorPointer(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Pointer)
	return ok && types.Implements(t, errorType)
}

// nilReturns returns the functions of the package whose only result is such a pointer, and
// which return nil somewhere.
func nilReturns(pass *analysis.Pass, in *inspector.Inspector) map[*types.Func]bool {
	found := map[*types.Func]bool{}
	visit(in, []ast.Node{(*ast.ReturnStmt)(nil)}, func(n ast.Node, stack []ast.Node) {
		results := n.(*ast.ReturnStmt).Results
		if len(results) != 1 || !isNil(pass, results[0]) {
			return
		}
		for _, outer := range slices.Backward(stack) {
			if _, literal := outer.(*ast.FuncLit); literal {
				break
			}
			if decl, ok := outer.(*ast.FuncDecl); ok {
				fn, _ := pass.TypesInfo.Defs[decl.Name].(*types.Func)
				if fn != nil && isErrorPointer(fn.Signature().Results().At(0).Type()) {
					found[fn] = true
				}
			}
		}
	})
	return found
}

// neverSet reports whether e is a local variable that was declared without a value and may be unset
// at e: its assignments are in a loop, or in an if without else.
func (f *flow) neverSet(e ast.Expr, stack []ast.Node) bool {
	v, ok := object(f.pass, e).(*types.Var)
	if !ok || v.Parent() == f.pass.Pkg.Scope() || len(f.assigns[v]) == 0 {
		return false
	}
	first := f.assigns[v][0]
	if spec, ok := first.stmt.(*ast.ValueSpec); !ok || len(spec.Values) > 0 || first.stmt.End() > e.Pos() {
		return false
	}
	return !slices.ContainsFunc(f.assigns[v][1:], func(a assignment) bool {
		_, address := a.stmt.(*ast.UnaryExpr)
		return address || encloses(a.block, e.Pos()) || f.oneOfSeveral(a, stack)
	})
}

// oneOfSeveral reports whether the assignment is in an if with an else, or in a switch, where the
// other branches may set the variable too.
func (f *flow) oneOfSeveral(a assignment, stack []ast.Node) bool {
	found := false
	ast.Inspect(stack[0], func(n ast.Node) bool {
		if n == nil || !encloses(n, a.stmt.Pos()) {
			return false
		}
		switch i := n.(type) {
		case *ast.IfStmt:
			found = found || i.Else != nil && !encloses(n, stack[len(stack)-1].Pos())
		case *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
			found = found || !encloses(n, stack[len(stack)-1].Pos())
		}
		return !found
	})
	return found
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
		sig, i := signatureOf(pass, stack), slices.Index(parent.Results, e)
		return sig != nil && sig.Results().Len() == len(parent.Results) && i >= 0 && isErrorInterface(sig.Results().At(i).Type())
	case *ast.AssignStmt:
		i := slices.Index(parent.Rhs, e)
		plain := len(parent.Lhs) == len(parent.Rhs) && parent.Tok == token.ASSIGN
		return plain && i >= 0 && isErrorInterface(pass.TypesInfo.TypeOf(parent.Lhs[i]))
	case *ast.ValueSpec:
		return parent.Type != nil && isErrorInterface(pass.TypesInfo.TypeOf(parent.Type))
	case *ast.CallExpr:
		sig, ok := pass.TypesInfo.TypeOf(parent.Fun).(*types.Signature)
		i := slices.Index(parent.Args, e)
		if !ok || i < 0 || parent.Ellipsis.IsValid() {
			return false
		}
		last := sig.Params().Len() - 1
		if sig.Variadic() && i >= last {
			list, ok := sig.Params().At(last).Type().(*types.Slice)
			return ok && isErrorInterface(list.Elem())
		}
		return i <= last && isErrorInterface(sig.Params().At(i).Type())
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

// mayBeNil reports whether the argument may be nil. It may not if a function around it compares it
// with nil anywhere.
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
