package errlint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// failAnalyzer checks that functions which have a contract fail by it.
var failAnalyzer = analyzer("errfail", "https://pkg.go.dev/"+pathDecl, `check that functions with a contract fail by their contract

A function that uses a contract, or one of its reasons, should build a failure of a kind which
that contract declares with Fail, so that clients find the reason, and should not
fail with a kind that it does not declare. Failures that can happen anywhere
(internal, service_unavailable, timeout, validation, serialization, cancelled) need no declaration.
Only what stands in the function itself is seen: errors of functions it calls are not.`, runFail, contractAnalyzer)

// baseline has the kinds that any function may return.
var baseline = []string{"internal", "service_unavailable", "timeout", "validation", "serialization", "cancelled"}

func runFail(pass *analysis.Pass, in *inspector.Inspector) {
	declared := pass.ResultOf[contractAnalyzer].(declarations)
	returned := map[*ast.CallExpr]bool{}
	leaving(pass, func(e ast.Expr, result types.Type, _ []ast.Node) {
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && isErrorInterface(result) {
			returned[call] = true
		}
	})
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)}, func(n ast.Node) {
		body := bodyOf(n)
		if body == nil {
			return
		}
		if reasons := contractsOf(pass, declared, body); len(reasons) > 0 {
			checkFunc(pass, declared, body, reasons, returned)
		}
	})
}

func bodyOf(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Body
	case *ast.FuncLit:
		return n.Body
	}
	return nil
}

// contractsOf returns the reasons of all contracts that the body mentions. A function
// inside it that mentions one itself is a tool of its own.
func contractsOf(pass *analysis.Pass, declared declarations, body ast.Node) []*declaredReason {
	contracts := mentioned(pass, declared, body)
	var reasons []*declaredReason
	for _, c := range contracts {
		reasons = append(reasons, declared.of(c)...)
	}
	slices.SortFunc(reasons, func(a, b *declaredReason) int { return strings.Compare(a.Contract+a.Name, b.Contract+b.Name) })
	return reasons
}

func mentioned(pass *analysis.Pass, declared declarations, body ast.Node) (contracts []string) {
	asked := map[*ast.Ident]bool{} // reasons that are only compared, so that the function is not a tool
	inspectTool(pass, declared, body, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			switch called(pass, call) {
			case "(" + pathDecl + ".Reason).Matches", "(" + pathDecl + ".Reason).String":
				asked[lastIdent(receiver(call))] = true
			}
		}
		id, ok := n.(*ast.Ident)
		if !ok || asked[id] {
			return
		}
		obj, ok := pass.TypesInfo.Uses[id].(*types.Var)
		if !ok {
			return
		}
		contract := ""
		if r := declared[obj]; r != nil {
			contract = r.Contract
		} else if isNamed(obj.Type(), pathDecl, "Contract") {
			contract = key(obj)
		}
		if contract != "" && !slices.Contains(contracts, contract) {
			contracts = append(contracts, contract)
		}
	})
	return contracts
}

// inspectTool visits the nodes of a body, except the functions inside it that have a contract of
// their own.
func inspectTool(pass *analysis.Pass, declared declarations, body ast.Node, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && len(mentioned(pass, declared, lit.Body)) > 0 {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// checkFunc checks the body of a tool. returned are the calls whose result becomes an error
// and nothing else.
func checkFunc(pass *analysis.Pass, declared declarations, body ast.Node, reasons []*declaredReason, returned map[*ast.CallExpr]bool) {
	inspectTool(pass, declared, body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		b, ok := builtBy(pass, call)
		if !ok || b.declared || b.kind == "" {
			return
		}
		fitting := slices.DeleteFunc(slices.Clone(reasons), func(r *declaredReason) bool { return r.Kind != b.kind })
		switch {
		case len(fitting) > 0:
			preferFail(pass, b, fitting, returned[call])
		case !slices.Contains(baseline, b.kind):
			report(pass, call, "contract-conformance",
				fmt.Sprintf("this fails with kind %s, which contract %s does not declare; add a mode for it", b.kind, reasons[0].Tool))
		}
	})
}

func preferFail(pass *analysis.Pass, b built, fitting []*declaredReason, returned bool) {
	var names []string
	for _, r := range fitting {
		names = append(names, r.Name+".Fail")
	}
	var edits []analysis.TextEdit
	method := map[string]string{"New": "Fail", "Newf": "Failf"}[b.fn.Name()]
	// The replacement has another type and the declared Retryable, so it is safe only where
	// an error is wanted and both say the same; and only kinds are called the way reasons
	// are.
	if sel, ok := b.call.Fun.(*ast.SelectorExpr); ok && returned && len(fitting) == 1 && b.fn.Pkg().Path() == pathKind && method != "" &&
		fitting[0].Retryable == retryable[b.kind] && samePackage(pass, fitting[0], b.call.Pos()) && stillImported(pass, sel) {
		edits = append(edits, edit(sel.Pos(), sel.End(), fitting[0].Name+"."+method))
	}
	report(pass, b.call, "contract-prefer-fail",
		fmt.Sprintf("kind %s is declared by contract %s: use %s, so that clients find the reason", b.kind, fitting[0].Tool, strings.Join(names, " or ")), edits...)
}

// samePackage reports whether the name of the reason's variable means it at package level.
func samePackage(pass *analysis.Pass, r *declaredReason, pos token.Pos) bool {
	reason := pass.Pkg.Scope().Lookup(r.Name)
	return strings.HasPrefix(r.Contract, pass.Pkg.Path()+".") && reason != nil && means(pass, pos, reason)
}

// stillImported reports whether the file of a call kind.NotFound.New needs its import of
// package kind for more than such calls, so that replacing all of them compiles.
func stillImported(pass *analysis.Pass, method *ast.SelectorExpr) bool {
	constant, ok := ast.Unparen(method.X).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	imported := object(pass, constant.X)
	for _, file := range pass.Files {
		if !encloses(file, method.Pos()) {
			continue
		}
		left := 0
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if pass.TypesInfo.Uses[n] == imported {
					left++
				}
			case *ast.CallExpr:
				if b, ok := builtBy(pass, n); ok && b.fn.Pkg().Path() == pathKind && b.fn.Signature().Recv() != nil {
					left--
				}
			}
			return true
		})
		return left > 0
	}
	return false
}
