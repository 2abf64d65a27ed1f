package errlint

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Plain checks that handlers do not return errors without a kind.
var Plain = &analysis.Analyzer{
	Name: "errplain",
	Doc: `check that handlers say what kind of error they return

Of errors.New, and of fmt.Errorf without %w, the peer reads "Internal error" and nothing
else. Methods of the agent and of the client, middleware, extension handlers and
functions that have a contract should return an error with a kind, and a tool call should
fail with one.`,
	URL:      "https://pkg.go.dev/" + pathKind,
	Requires: []*analysis.Analyzer{inspect.Analyzer, Contract},
	Run:      runPlain,
}

func runPlain(pass *analysis.Pass) (any, error) {
	if !uses(pass) {
		return nil, nil
	}
	declared := pass.ResultOf[Contract].(declarations)
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.CallExpr)(nil)}, func(n ast.Node) {
		body := bodyOf(n)
		var sig *types.Signature
		switch n := n.(type) {
		case *ast.FuncDecl:
			if fn, ok := pass.TypesInfo.Defs[n.Name].(*types.Func); ok {
				sig = fn.Signature()
			}
		case *ast.FuncLit:
			sig, _ = pass.TypesInfo.TypeOf(n).(*types.Signature)
		case *ast.CallExpr:
			if err := failing(pass, n); err != nil {
				checkPlain(pass, err)
			}
		}
		if body == nil || sig == nil || !returnsError(sig) {
			return
		}
		if isHandler(sig) || len(contractsOf(pass, declared, body)) > 0 {
			plainReturns(pass, body)
		}
	})
	return nil, nil
}

func returnsError(sig *types.Signature) bool {
	n := sig.Results().Len()
	return n > 0 && types.Identical(sig.Results().At(n-1).Type(), types.Universe.Lookup("error").Type())
}

// isHandler recognises the methods of acp.Agent and acp.Client and their optional
// interfaces by their shape, and acp.Handler and HandleExtension by theirs.
func isHandler(sig *types.Signature) bool {
	params, results := sig.Params(), sig.Results()
	if params.Len() < 2 || results.Len() != 2 || !isNamed(params.At(0).Type(), "context", "Context") {
		return false
	}
	if params.Len() == 2 {
		p, ok := types.Unalias(params.At(1).Type()).(*types.Pointer)
		if !ok {
			return false
		}
		named, ok := types.Unalias(p.Elem()).(*types.Named)
		return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == pathACP && strings.HasSuffix(named.Obj().Name(), "Request")
	}
	name, ok := types.Unalias(params.At(1).Type()).(*types.Basic)
	last, empty := params.At(2).Type().Underlying().(*types.Interface)
	result, any := results.At(0).Type().Underlying().(*types.Interface)
	return params.Len() == 3 && ok && name.Kind() == types.String && any && result.Empty() &&
		(empty && last.Empty() || isNamed(params.At(2).Type(), "encoding/json", "RawMessage"))
}

func plainReturns(pass *analysis.Pass, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it has results of its own
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				return true
			}
			checkPlain(pass, n.Results[len(n.Results)-1])
		}
		return true
	})
}

// checkPlain reports an error without a kind.
func checkPlain(pass *analysis.Pass, e ast.Expr) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return
	}
	fn := callee(pass, call)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	switch fn.Pkg().Path() + "." + fn.Name() {
	case "errors.New":
	case "fmt.Errorf":
		if len(call.Args) == 0 || wraps(pass, call.Args[0]) {
			return
		}
	default:
		return
	}
	pass.Report(analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Category: "error-plain",
		Message: `the peer reads only "Internal error" of this; return an error with a kind, such as kind.NotFound.New(message)`})
}

// wraps tells whether a format has %w, or cannot be read.
func wraps(pass *analysis.Pass, format ast.Expr) bool {
	text, ok := stringOf(pass, format)
	return !ok || strings.Contains(text, "%w") || strings.Contains(text, "]w")
}
