package errlint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// useAnalyzer checks for calls with arguments that make their result impossible.
var useAnalyzer = analyzer("erruse", "https://pkg.go.dev/"+pathKind, `check for errors that cannot be built

A constructor that is given an empty message, or a number that is no HTTP error status,
returns an internal error in place of the intended one, and the peer gets no details. If the
argument is a constant, that happens each time. A context-required error without a hint is
sent as an internal error too, because the receiver would not know what to ask. The methods that
begin with With return a copy, so a call whose result is dropped does nothing. A time to wait that is a
number without a unit is one of nanoseconds.`, runBadUse)

// requiredTexts has the arguments that must not be empty, by function.
var requiredTexts = map[string][]int{
	pathTool + ".New": {0, 2}, pathTool + ".Newf": {0, 3}, pathTool + ".Auth": {0}, pathTool + ".NotFound": {0}, pathTool + ".RateLimited": {0},
	pathTool + ".Validation": {0}, pathTool + ".Timeout": {0}, pathTool + ".Internal": {0},
	pathKind + ".Upstream": {0}, pathKind + ".UpstreamRateLimit": {0},
	"(" + pathKind + ".Kind).New": {0}, "(" + pathKind + ".Kind).Newf": {1},
	"(" + pathCode + ".Code).New": {0}, "(" + pathCode + ".Code).Newf": {1},
	"(*" + pathKind + ".Error).WithReason": {0}, "(*" + pathKind + ".Error).WithCode": {0},
	pathDecl + ".New": {0}, pathTools + ".Failf": {0}, pathTools + ".Denyf": {0},
}

func runBadUse(pass *analysis.Pass, in *inspector.Inspector) {
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) { checkUse(pass, n.(*ast.CallExpr)) })
	in.Preorder([]ast.Node{(*ast.ExprStmt)(nil), (*ast.AssignStmt)(nil), (*ast.CompositeLit)(nil)}, func(n ast.Node) { checkDropped(pass, n) })
	leaving(pass, func(e ast.Expr, _ types.Type, _ []ast.Node) { checkHint(pass, e) })
	visit(in, []ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node, stack []ast.Node) {
		e := n.(ast.Expr)
		switch parent := stack[len(stack)-2].(type) {
		case *ast.CompositeLit, *ast.KeyValueExpr:
			checkHint(pass, e)
		case *ast.CallExpr:
			if becomesError(pass, e, stack) && failing(pass, parent) != e {
				checkHint(pass, e)
			}
		}
	})
}

// checkDropped reports a copy of an error that nobody gets, and a field that is a time without a unit.
func checkDropped(pass *analysis.Pass, n ast.Node) {
	switch n := n.(type) {
	case *ast.ExprStmt:
		checkCopy(pass, n.X)
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if len(n.Lhs) != len(n.Rhs) {
				return
			}
			if id, ok := lhs.(*ast.Ident); ok && id.Name == "_" {
				checkCopy(pass, n.Rhs[i])
			} else if sel, ok := lhs.(*ast.SelectorExpr); ok && isOurs(pass.TypesInfo.TypeOf(sel.X)) {
				checkTime(pass, n.Rhs[i], pass.TypesInfo.TypeOf(lhs))
			}
		}
	case *ast.CompositeLit:
		if isOurs(pass.TypesInfo.TypeOf(n)) {
			for _, elt := range n.Elts {
				if kv, ok := elt.(*ast.KeyValueExpr); ok {
					checkTime(pass, kv.Value, pass.TypesInfo.TypeOf(kv.Value))
				}
			}
		}
	}
}

func checkCopy(pass *analysis.Pass, e ast.Expr) {
	fn := calleeOf(pass, e)
	if fn != nil && strings.HasPrefix(fn.Name(), "With") && fn.Signature().Recv() != nil && isOurs(fn.Signature().Recv().Type()) {
		report(pass, e, "error-dropped", fn.Name()+" returns a copy, which nobody gets here: assign it or return it")
	}
}

// checkTime reports a number without a unit where a duration is wanted.
func checkTime(pass *analysis.Pass, e ast.Expr, wanted types.Type) {
	lit, ok := ast.Unparen(e).(*ast.BasicLit)
	if ok && lit.Kind == token.INT && lit.Value != "0" && isNamed(wanted, "time", "Duration") {
		report(pass, e, "error-duration", lit.Value+" is a time of nanoseconds: give it a unit, such as "+lit.Value+"*time.Second")
	}
}

// checkHint reports an error that tells its receiver to ask the user, but not what to ask.
func checkHint(pass *analysis.Pass, e ast.Expr) {
	c, ok := chainOf(pass, e)
	if !ok || c.kind != "context_required" || c.fn.Pkg().Path() != pathKind || c.hinted(pass) {
		return
	}
	reportUse(pass, e, "a context-required error needs a hint that says what to ask the user: add .WithHint(...)")
}

// hinted reports whether the chain gives the error a hint. An empty one removes it.
func (c chain) hinted(pass *analysis.Pass) (yes bool) {
	for _, call := range c.refining {
		if fn := callee(pass, call); fn != nil && fn.Name() == "WithHint" && len(call.Args) == 1 {
			text, constant := stringOf(pass, call.Args[0])
			yes = !constant || strings.TrimSpace(text) != ""
		}
	}
	return yes
}

// checkData reports a value that encoding/json cannot write.
func checkData(pass *analysis.Pass, arg ast.Expr) {
	if t := unencodable(pass.TypesInfo.TypeOf(arg), nil); t != nil {
		reportUse(pass, arg, "a "+types.TypeString(t, types.RelativeTo(pass.Pkg))+" cannot be encoded as JSON: the peer does not read it")
		return
	}
	if lit, ok := ast.Unparen(arg).(*ast.CompositeLit); ok {
		for elt := range elements(lit) {
			checkData(pass, elt)
		}
	}
}

// unencodable returns the part of a type that encoding/json cannot write, or nil.
func unencodable(t types.Type, seen []types.Type) types.Type {
	if t == nil || slices.Contains(seen, t) {
		return nil
	}
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, name); m != nil {
			return nil
		}
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Chan, *types.Signature:
		return t
	case *types.Basic:
		if u.Info()&types.IsComplex != 0 {
			return t
		}
	case interface{ Elem() types.Type }: // a pointer, a list, a map
		return unencodable(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			tag := reflect.StructTag(u.Tag(i)).Get("json")
			if f := u.Field(i); f.Exported() && tag != "-" {
				if t := unencodable(f.Type(), seen); t != nil {
					return t
				}
			}
		}
	}
	return nil
}

func reportUse(pass *analysis.Pass, at ast.Node, message string) {
	report(pass, at, "error-bad-use", message)
}

func checkUse(pass *analysis.Pass, call *ast.CallExpr) {
	fn := callee(pass, call)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	if b, ok := builtBy(pass, call); ok {
		for _, arg := range b.data {
			checkData(pass, arg)
		}
	} else if recv := fn.Signature().Recv(); recv != nil && isOurs(recv.Type()) && (fn.Name() == "WithData" || fn.Name() == "With") && len(call.Args) > 0 {
		checkData(pass, call.Args[len(call.Args)-1])
	}
	if inside(fn.Pkg().Path()) {
		for i, arg := range call.Args {
			if params := fn.Signature().Params(); i < params.Len() {
				checkTime(pass, arg, params.At(i).Type())
			}
		}
	}
	name := fn.FullName()
	for _, i := range requiredTexts[name] {
		if i < len(call.Args) {
			if text, constant := stringOf(pass, call.Args[i]); constant && strings.TrimSpace(text) == "" {
				reportUse(pass, call.Args[i], fn.Name()+" refuses an empty text: what leaves is an internal error")
			}
		}
	}
	number := func(i int, least, most int64, what string) {
		if i >= len(call.Args) {
			return
		}
		if n, constant := intOf(pass, call.Args[i]); constant && (n < least || n > most) {
			reportUse(pass, call.Args[i], fmt.Sprintf("%d is not %s: what leaves is an internal error", n, what))
		}
	}
	oneOf := func(e ast.Expr, known map[string]string, what string) {
		if text, constant := stringOf(pass, e); constant && known[text] == "" {
			reportUse(pass, e, fmt.Sprintf("%q is none of the %s: what leaves is an internal error", text, what))
		}
	}
	switch name {
	case pathKind + ".Upstream":
		number(1, 400, 599, "an HTTP error status")
	case pathKind + ".UpstreamRateLimit":
		number(1, 1, 1<<63-1, "a time to wait")
	case "(*" + pathKind + ".Error).WithStatus":
		number(0, 100, 599, "an HTTP status")
	case pathTool + ".New", pathTool + ".Newf":
		if len(call.Args) < 2 {
			return
		}
		if category, _ := stringOf(pass, call.Args[1]); category != "" { // without one the kind is unknown
			oneOf(call.Args[1], categoryKinds, "categories")
		}
	case "(" + pathCode + ".Code).New", "(" + pathCode + ".Code).Newf":
		oneOf(receiver(call), toolCodeKinds, "codes of package toolcode")
	case "(" + pathKind + ".Kind).New", "(" + pathKind + ".Kind).Newf":
		oneOf(receiver(call), kindConstants(fn.Pkg()), "constants of package kind")
	}
}
