package errlint

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// plainAnalyzer checks that handlers do not return errors without a kind.
var plainAnalyzer = analyzer("errplain", "https://pkg.go.dev/"+pathKind, `check that handlers return errors with a kind

Of errors.New, and of fmt.Errorf without %w, the peer reads "Internal error" and nothing
else. Methods of the agent and of the client, middleware, extension handlers and functions
that have a contract should return an error with a kind, and a tool call should fail with
one. The same holds for errors of the standard library, unless Options.OnError is set. Of a
kind that is returned by itself the peer reads only the fixed text.`, runPlain, contractAnalyzer)

func runPlain(pass *analysis.Pass, in *inspector.Inspector) {
	p := plainCheck{
		pass: pass, flow: flowOf(pass), declared: pass.ResultOf[contractAnalyzer].(declarations),
		bodies: map[*ast.BlockStmt]bool{}, adapted: map[types.Object]bool{},
	}
	p.options(in)
	leaving(pass, func(e ast.Expr, result types.Type, stack []ast.Node) {
		if !isErrorInterface(result) {
			return
		}
		switch n := stack[len(stack)-1].(type) {
		case *ast.CallExpr:
			p.check(e)
			p.raw(e, e)
		case *ast.AssignStmt:
			if obj := object(pass, n.Lhs[slices.Index(n.Rhs, e)]); isResult(signatureOf(pass, stack), obj) && p.isHandler(stack) {
				p.check(e)
			}
			p.bare(e)
		default:
			if p.isHandler(stack) {
				p.check(e)
			}
			p.bare(e)
		}
	})
}

type plainCheck struct {
	pass     *analysis.Pass
	flow     *flow
	declared declarations
	bodies   map[*ast.BlockStmt]bool // whether a function is a handler or a tool
	// classifies reports whether the package sets Options.OnError, which classifies errors of the
	// standard library.
	classifies bool
	adapted    map[types.Object]bool // errors that an adapter knows
}

// options finds the options that convert plain errors.
func (p *plainCheck) options(in *inspector.Inspector) {
	in.Preorder([]ast.Node{(*ast.KeyValueExpr)(nil), (*ast.AssignStmt)(nil), (*ast.CallExpr)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && id.Name == "OnError" {
				p.classifies = true
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if sel, ok := lhs.(*ast.SelectorExpr); ok && sel.Sel.Name == "OnError" {
					p.classifies = true
				}
			}
		case *ast.CallExpr:
			if called(p.pass, n) == pathFind+".Is" && len(n.Args) == 2 {
				if id := lastIdent(n.Args[0]); id != nil {
					p.adapted[p.pass.TypesInfo.Uses[id]] = true
				}
			}
		}
	})
}

// isHandler reports whether the innermost function of the stack is a handler or a tool.
func (p *plainCheck) isHandler(stack []ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		body := bodyOf(stack[i])
		if body == nil {
			continue
		}
		known, seen := p.bodies[body]
		if !seen {
			sig := signatureOf(p.pass, stack[:i+1])
			returns := sig != nil && sig.Results().Len() > 0 && isErrorInterface(sig.Results().At(sig.Results().Len()-1).Type())
			known = returns && (isHandler(sig) || len(contractsOf(p.pass, p.declared, body)) > 0)
			p.bodies[body] = known
		}
		return known
	}
	return false
}

// isHandler recognises the methods of acp.Agent and acp.Client and of their optional interfaces by
// their signature. It also recognises acp.Handler, HandleExtension, the function for Accept of
// version 2, the functions of tools.Tool and tools.Typed, and those of kit.Options.Turn and of commands.
func isHandler(sig *types.Signature) bool {
	params, results := sig.Params(), sig.Results()
	if params.Len() == 1 && results.Len() == 2 && isNamed(params.At(0).Type(), "context", "Context") {
		return isNamed(results.At(0).Type(), pathACP2, "StopReason") // the work of a turn
	}
	if params.Len() < 2 || results.Len() != 2 || !isNamed(params.At(0).Type(), "context", "Context") {
		return false
	}
	second := params.At(1).Type()
	if isNamed(second, pathTools, "Call") && isNamed(results.At(0).Type(), pathTools, "Result") ||
		isNamed(second, pathKit, "Session") && isNamed(results.At(0).Type(), pathACP, "StopReason") {
		return true
	}
	if params.Len() == 2 {
		p, ok := types.Unalias(params.At(1).Type()).(*types.Pointer)
		if !ok {
			return false
		}
		named, ok := types.Unalias(p.Elem()).(*types.Named)
		return ok && named.Obj().Pkg() != nil && isVocabulary(named.Obj().Pkg().Path()) && strings.HasSuffix(named.Obj().Name(), "Request")
	}
	name, ok := types.Unalias(params.At(1).Type()).(*types.Basic)
	last, empty := params.At(2).Type().Underlying().(*types.Interface)
	result, any := results.At(0).Type().Underlying().(*types.Interface)
	return params.Len() == 3 && ok && name.Kind() == types.String && any && result.Empty() &&
		(empty && last.Empty() || isNamed(params.At(2).Type(), "encoding/json", "RawMessage"))
}

// check reports an error without a kind, also one that a variable holds.
func (p *plainCheck) check(e ast.Expr) {
	if p.isPlain(e) {
		report(p.pass, e, "error-plain", `the peer reads only "Internal error" of this; return an error with a kind, such as kind.NotFound.New(message)`)
	}
}

// isPlain reports whether e is an error without a kind: a text, or several that are wrapped or
// joined.
func (p *plainCheck) isPlain(e ast.Expr) bool {
	if p.adapted[object(p.pass, e)] {
		return false
	}
	call, _ := p.flow.value(e, e.Pos()).(*ast.CallExpr)
	var inside []ast.Expr
	switch called(p.pass, p.flow.value(e, e.Pos())) {
	case "errors.New":
		return true
	case "errors.Join":
		inside = call.Args
	case "fmt.Errorf":
		if text, ok := stringOf(p.pass, call.Args[0]); ok && !strings.Contains(text, "%w") && !strings.Contains(text, "]w") {
			return true
		}
		inside = wrapped(p.pass, call.Args[0], call.Args[1:])
	}
	return len(inside) > 0 && !slices.ContainsFunc(inside, func(e ast.Expr) bool { return !p.isPlain(e) })
}

// bare reports a kind that is sent without a message.
func (p *plainCheck) bare(e ast.Expr) {
	if isBare(p.pass, e) {
		k, _ := stringOf(p.pass, ast.Unparen(e))
		report(p.pass, e, "error-bare", "the peer reads only the fixed text of kind "+k+"; say what happened with New or Newf")
	}
}

// raw reports an error of the standard library that ends a tool call.
func (p *plainCheck) raw(at, e ast.Expr) {
	if p.classifies {
		return
	}
	p.bare(e)
	call, ok := p.flow.value(e, e.Pos()).(*ast.CallExpr)
	if !ok {
		return
	}
	fn := callee(p.pass, call)
	switch {
	case fn == nil || fn.Pkg() == nil:
	case fn.FullName() == "fmt.Errorf":
		for _, inside := range wrapped(p.pass, call.Args[0], call.Args[1:]) {
			p.raw(at, inside)
		}
	case standard(fn.Pkg().Path()):
		report(p.pass, at, "error-raw", `the peer reads only "Internal error" of an error of package `+fn.Pkg().Path()+
			`; build one that says what happened, as in kind.NotFound.Newf(err, "..."), or set Options.OnError to classify.OnError(nil)`)
	}
}
