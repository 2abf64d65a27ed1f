package errlint

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// textAnalyzer checks that the texts of other errors do not reach the peer.
var textAnalyzer = analyzer("errtext", "https://pkg.go.dev/"+pathKind, `check that the texts of other errors do not reach the peer

What stands in a message, a hint or the data of an error is read by the other end. The text
of an error from below may hold paths, queries, addresses or credentials: make it the
cause, by Newf or WithCause, which stays in the process.`, runText)

func runText(pass *analysis.Pass, in *inspector.Inspector) {
	l := leaks{pass, flowOf(pass), encodedBy(pass, in)}
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil), (*ast.CompositeLit)(nil), (*ast.AssignStmt)(nil)}, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			l.fields(n)
			return
		}
		if b, ok := builtBy(pass, call); ok {
			for _, arg := range b.texts {
				l.text(arg)
			}
			for _, arg := range b.data {
				l.data(arg)
			}
			l.operands(b)
			return
		}
		fn := callee(pass, call)
		if fn == nil || fn.Signature().Recv() == nil || !isOurs(fn.Signature().Recv().Type()) {
			return
		}
		for _, arg := range call.Args {
			switch fn.Name() {
			case "WithDetail", "WithHint", "WithCode", "WithReason":
				l.text(arg)
			case "WithData", "With":
				l.data(arg)
			}
		}
	})
}

// fields checks the values that are assigned to the fields of an error of ours.
func (l leaks) fields(n ast.Node) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if !isOurs(l.pass.TypesInfo.TypeOf(n)) {
			return
		}
		for _, elt := range n.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				l.field(kv.Key, kv.Value)
			}
		}
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if sel, ok := lhs.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) && isOurs(l.pass.TypesInfo.TypeOf(sel.X)) {
				l.field(sel.Sel, n.Rhs[i])
			}
		}
	}
}

func (l leaks) field(name, value ast.Expr) {
	id, ok := name.(*ast.Ident)
	if !ok {
		return
	}
	switch id.Name {
	case "Message", "Hint", "Code", "Reason":
		l.text(value)
	case "Data":
		l.data(value)
	}
}

// leaks finds values that must not reach the peer.
type leaks struct {
	pass    *analysis.Pass
	flow    *flow
	encoded map[types.Object]bool // what json.Marshal made
}

// operands checks the operands of a format: an error is the cause, and none of them.
func (l leaks) operands(b built) {
	for _, operand := range b.operands {
		switch {
		case !isError(l.pass, operand):
			l.text(operand)
		case b.fn.Pkg().Path() == pathTools:
			l.report(operand, "the person and the model read the text of this error; fail with a kind, as in kind.NotFound.Newf(err, \"...\"), which keeps it inside")
		default:
			l.report(operand, "the peer reads the text of this error; make it the cause, the argument before the format, which stays inside")
		}
	}
}

func (l leaks) report(n ast.Node, message string) { report(l.pass, n, "error-text", message) }

// text checks an argument that the peer reads as text. A program that shows a value of its own as
// JSON should put it into the data.
func (l leaks) text(arg ast.Expr) {
	ast.Inspect(arg, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if tv := l.pass.TypesInfo.Types[call.Fun]; tv.IsType() && l.encoded[object(l.pass, call.Args[0])] {
			l.report(call, "the peer reads this encoded value; choose what it may know and put it into the data")
		}
		return true
	})
	l.data(arg)
}

// data checks an argument that the peer reads in some form.
func (l leaks) data(arg ast.Expr) {
	asData(arg, func(e ast.Expr) {
		if isErrorInterface(l.pass.TypesInfo.TypeOf(e)) {
			l.report(e, "the peer reads this error, encoded as data; make it the cause with .WithCause, which stays inside")
		}
	})
	l.sources(arg, l.report)
	l.held(arg)
}

const readsText = "the peer reads the text of this error; make it the cause with .WithCause, which stays inside"

// sources calls report for each place in e where an error becomes a text.
func (l leaks) sources(e ast.Expr, report func(ast.Node, string)) {
	pass := l.pass
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if _, ours := builtBy(pass, call); ours {
			return false // checked separately
		}
		fn := callee(pass, call)
		if fn == nil {
			return true
		}
		sel, isSel := call.Fun.(*ast.SelectorExpr)
		switch {
		case fn.Name() == "Error" && isSel && fn.Signature().Recv() != nil && fn.Signature().Params().Len() == 0 && isError(pass, sel.X):
			if !l.written(sel.X) {
				report(call, readsText)
			}
		case fn.FullName() == "runtime/debug.Stack":
			report(call, "the peer reads this stack trace; log it instead")
		case formats(fn):
			for _, operand := range call.Args {
				if isError(pass, operand) {
					report(operand, readsText)
				}
			}
		}
		return true
	})
}

// written reports whether e is an error of the package whose text stands in its source, or the error
// itself whose method builds another form of it.
func (l leaks) written(e ast.Expr) bool {
	obj := object(l.pass, e)
	if v, ok := obj.(*types.Var); ok && v.Kind() == types.RecvVar {
		return true
	}
	if obj == nil || obj.Parent() != l.pass.Pkg.Scope() {
		return false
	}
	call, ok := l.flow.value(e, e.Pos()).(*ast.CallExpr)
	if !ok || called(l.pass, call) != "errors.New" {
		return false
	}
	_, constant := stringOf(l.pass, call.Args[0])
	return constant
}

func formats(fn *types.Func) bool {
	return strings.HasPrefix(fn.FullName(), "fmt.Sprint")
}

// held reports variables in e that hold the text of an error.
func (l leaks) held(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := l.flow.value(e, e.Pos())
		if v == e {
			return
		}
		found := false
		l.sources(v, func(ast.Node, string) { found = true })
		if found {
			l.report(e, "the peer reads the text of an error, which "+e.Name+" holds; make the error the cause with .WithCause, which stays inside")
		}
	case *ast.BinaryExpr:
		l.held(e.X)
		l.held(e.Y)
	case *ast.CompositeLit:
		for elt := range elements(e) {
			l.held(elt)
		}
	case *ast.UnaryExpr:
		l.held(e.X)
	case *ast.IndexExpr:
		l.held(e.X)
	case *ast.CallExpr:
		fn := callee(l.pass, e)
		if l.pass.TypesInfo.Types[e.Fun].IsType() || fn != nil && (formats(fn) || fn.Pkg() != nil && fn.Pkg().Path() == "strings") {
			for _, arg := range e.Args {
				l.held(arg)
			}
		}
	}
}

// asData visits the values that an argument consists of.
func asData(e ast.Expr, visit func(ast.Expr)) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		for elt := range elements(e) {
			asData(elt, visit)
		}
	case *ast.UnaryExpr:
		asData(e.X, visit)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		visit(e)
	}
}

// encodedBy returns the variables that hold a result of json.Marshal.
func encodedBy(pass *analysis.Pass, in *inspector.Inspector) map[types.Object]bool {
	encoded := map[types.Object]bool{}
	in.Preorder([]ast.Node{(*ast.AssignStmt)(nil)}, func(n ast.Node) {
		assign := n.(*ast.AssignStmt)
		switch called(pass, assign.Rhs[0]) {
		case "encoding/json.Marshal", "encoding/json.MarshalIndent":
			if id, ok := assign.Lhs[0].(*ast.Ident); ok {
				encoded[pass.TypesInfo.ObjectOf(id)] = true
			}
		}
	})
	return encoded
}
