package errlint

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Text checks that the texts of other errors do not reach the peer.
var Text = &analysis.Analyzer{
	Name: "errtext",
	Doc: `check that the texts of other errors do not reach the peer

What stands in a message, a hint or the data of an error is read by the other end. The text
of an error from below may hold paths, queries, addresses or credentials: make it the
cause, with %w or WithCause, which stays in the process.`,
	URL:      "https://pkg.go.dev/" + pathKind,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runText,
}

func runText(pass *analysis.Pass) (any, error) {
	if !uses(pass) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	encoded := encodedBy(pass, in)
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		if b, ok := builtBy(pass, call); ok {
			for _, arg := range b.texts {
				leaks(pass, arg, encoded)
			}
			checkOperands(pass, b, encoded)
			return
		}
		fn := callee(pass, call)
		if fn == nil || fn.Signature().Recv() == nil || !isOurs(fn.Signature().Recv().Type()) {
			return
		}
		switch fn.Name() {
		case "WithDetail", "WithHint", "WithData", "With":
			for _, arg := range call.Args {
				leaks(pass, arg, encoded)
			}
		}
	})
	return nil, nil
}

// checkOperands looks at the operands of a format: an error belongs to %w.
func checkOperands(pass *analysis.Pass, b built, encoded map[types.Object]bool) {
	verbs := verbsOf(pass, b.format0())
	for i, operand := range b.operands {
		if !isError(pass, operand) || i >= len(verbs) {
			leaks(pass, operand, encoded)
			continue
		}
		v := verbs[i]
		if v.char == 'w' {
			continue
		}
		d := analysis.Diagnostic{Pos: operand.Pos(), End: operand.End(), Category: "error-text",
			Message: "the peer reads the text of this error; use %w, which makes it the cause and keeps it inside"}
		lit, isLit := ast.Unparen(b.format).(*ast.BasicLit)
		if isLit && v.at > 0 && (v.char == 'v' || v.char == 's') && lit.Value[v.at-1] == '%' {
			at := lit.Pos() + token.Pos(v.at)
			d.SuggestedFixes = []analysis.SuggestedFix{{
				Message:   "Make it the cause",
				TextEdits: []analysis.TextEdit{{Pos: at, End: at + 1, NewText: []byte("w")}},
			}}
		}
		pass.Report(d)
	}
}

// format0 is the format, or an expression without a value.
func (b built) format0() ast.Expr {
	if b.format == nil {
		return &ast.BadExpr{}
	}
	return b.format
}

// leaks reports texts of errors anywhere in an argument.
func leaks(pass *analysis.Pass, arg ast.Expr, encoded map[types.Object]bool) {
	report := func(n ast.Node, message string) {
		pass.Report(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Category: "error-text", Message: message})
	}
	asData(arg, func(e ast.Expr) {
		if t := pass.TypesInfo.TypeOf(e); t != nil && types.Identical(t, types.Universe.Lookup("error").Type()) {
			report(e, "the peer reads this error, encoded as data; make it the cause with .WithCause, which stays inside")
		}
	})
	ast.Inspect(arg, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if _, ours := builtBy(pass, call); ours {
			return false // looked at on its own
		}
		if tv := pass.TypesInfo.Types[call.Fun]; tv.IsType() && len(call.Args) == 1 {
			if id, ok := ast.Unparen(call.Args[0]).(*ast.Ident); ok && encoded[pass.TypesInfo.Uses[id]] {
				report(call, "the peer reads this encoded value; choose what it may know and put it into the data")
			}
			return true
		}
		fn := callee(pass, call)
		if fn == nil {
			return true
		}
		sel, isSel := call.Fun.(*ast.SelectorExpr)
		switch {
		case fn.Name() == "Error" && isSel && fn.Signature().Recv() != nil && fn.Signature().Params().Len() == 0 && isError(pass, sel.X):
			report(call, "the peer reads the text of this error; make it the cause with .WithCause, which stays inside")
		case fn.Pkg() != nil && fn.Pkg().Path() == "runtime/debug" && fn.Name() == "Stack":
			report(call, "the peer reads this stack trace; log it instead")
		case fn.Pkg() != nil && fn.Pkg().Path() == "fmt" && (fn.Name() == "Sprintf" || fn.Name() == "Sprint" || fn.Name() == "Sprintln"):
			for _, operand := range call.Args {
				if isError(pass, operand) {
					report(operand, "the peer reads the text of this error; make it the cause with .WithCause, which stays inside")
				}
			}
		}
		return true
	})
}

// asData visits the values of which an argument is made.
func asData(e ast.Expr, visit func(ast.Expr)) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		for _, elt := range e.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			asData(elt, visit)
		}
	case *ast.UnaryExpr:
		asData(e.X, visit)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		visit(e)
	}
}

// encodedBy returns the variables that hold what json.Marshal made.
func encodedBy(pass *analysis.Pass, in *inspector.Inspector) map[types.Object]bool {
	encoded := map[types.Object]bool{}
	in.Preorder([]ast.Node{(*ast.AssignStmt)(nil)}, func(n ast.Node) {
		assign := n.(*ast.AssignStmt)
		if len(assign.Rhs) != 1 {
			return
		}
		fn := calleeOf(pass, assign.Rhs[0])
		if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "encoding/json" || fn.Name() != "Marshal" && fn.Name() != "MarshalIndent" {
			return
		}
		if id, ok := assign.Lhs[0].(*ast.Ident); ok {
			encoded[pass.TypesInfo.ObjectOf(id)] = true
		}
	})
	return encoded
}
