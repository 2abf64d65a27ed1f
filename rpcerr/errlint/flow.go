package errlint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// flow tracks the expressions that the variables of a package hold. It considers the order of
// statements and their blocks, but not loops and jumps. Where that is not sufficient, it reports
// nothing.
type flow struct {
	pass    *analysis.Pass
	assigns map[types.Object][]assignment
}

// assignment is one place at which a variable gets a value.
type assignment struct {
	stmt  ast.Node // the statement or the declaration
	value ast.Expr // nil if the value is not written there
	multi bool     // value is a call with several results
	block ast.Node // the block of the statement
}

func flowOf(pass *analysis.Pass) *flow {
	f := &flow{pass, map[types.Object][]assignment{}}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	kinds := []ast.Node{(*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil), (*ast.UnaryExpr)(nil)}
	visit(in, kinds, func(n ast.Node, stack []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			f.add(n, n.Lhs, n.Rhs, blockOf(stack))
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, id := range n.Names {
				names = append(names, id)
			}
			f.add(n, names, n.Values, blockOf(stack))
		case *ast.RangeStmt:
			f.add(n, []ast.Expr{n.Key, n.Value}, nil, n.Body)
		case *ast.UnaryExpr: // the owner of the address may assign
			if n.Op == token.AND {
				f.add(n, []ast.Expr{n.X}, nil, blockOf(stack))
			}
		}
	})
	return f
}

func (f *flow) add(stmt ast.Node, names, values []ast.Expr, block ast.Node) {
	for i, name := range names {
		id, ok := name.(*ast.Ident)
		if !ok {
			continue
		}
		obj := f.pass.TypesInfo.ObjectOf(id)
		if obj == nil {
			continue
		}
		a := assignment{stmt: stmt, block: block}
		switch {
		case len(values) == len(names):
			a.value = values[i]
		case len(values) == 1:
			a.value, a.multi = values[0], true
		}
		f.assigns[obj] = append(f.assigns[obj], a)
	}
}

// blockOf returns the innermost node that holds statements.
func blockOf(stack []ast.Node) ast.Node {
	for i := len(stack) - 2; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.File, *ast.IfStmt, *ast.SwitchStmt, *ast.ForStmt:
			return n
		}
	}
	return nil
}

func encloses(n ast.Node, pos token.Pos) bool { return n != nil && n.Pos() <= pos && pos <= n.End() }

// last returns the assignment whose value the variable holds at pos, if that is certain.
func (f *flow) last(obj types.Object, pos token.Pos) (assignment, bool) {
	all := f.assigns[obj]
	if obj.Parent() == f.pass.Pkg.Scope() { // a package-level variable that nothing changes
		if len(all) == 1 {
			return all[0], true
		}
		return assignment{}, false
	}
	var found assignment
	for _, a := range all {
		if a.stmt.End() <= pos && (found.stmt == nil || a.stmt.Pos() > found.stmt.Pos()) {
			found = a
		}
	}
	return found, found.stmt != nil && encloses(found.block, pos)
}

// value returns the expression whose value e has at pos: e itself, or what the variable
// that e names was assigned. A call with several results counts for each of them.
func (f *flow) value(e ast.Expr, pos token.Pos) ast.Expr {
	for range 5 {
		e = ast.Unparen(e)
		id, ok := e.(*ast.Ident)
		if !ok {
			return e
		}
		obj, ok := f.pass.TypesInfo.Uses[id].(*types.Var)
		if !ok {
			return e
		}
		a, ok := f.last(obj, pos)
		if !ok || a.value == nil {
			return e
		}
		if a.multi {
			return a.value
		}
		e = a.value
		if obj.Parent() != f.pass.Pkg.Scope() {
			pos = a.stmt.Pos()
		}
	}
	return e
}

// holds reports whether e, or what the variable that e names was assigned, mentions obj.
func (f *flow) holds(e ast.Expr, obj types.Object) bool {
	return mentions(f.pass, e, obj) || mentions(f.pass, f.value(e, e.Pos()), obj)
}

// changedBetween reports whether the variable is assigned after from and before pos.
func (f *flow) changedBetween(obj types.Object, from, pos token.Pos) bool {
	for _, a := range f.assigns[obj] {
		if from <= a.stmt.Pos() && a.stmt.End() <= pos {
			if _, address := a.stmt.(*ast.UnaryExpr); !address {
				return true
			}
		}
	}
	return false
}

// object returns the variable that e names.
func object(pass *analysis.Pass, e ast.Expr) types.Object {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return pass.TypesInfo.Uses[id]
	}
	return nil
}

// roots are the folders of the standard library whose functions return errors of their
// own. A module may have any name, so a path without a dot is not enough.
var roots = []string{
	"archive", "bufio", "compress", "crypto", "database", "encoding", "hash", "html", "image", "io", "mime", "net", "os",
	"regexp", "strconv", "syscall", "text", "time",
}

// standard reports whether a package belongs to the standard library and returns errors
// of its own.
func standard(path string) bool {
	root, _, _ := strings.Cut(path, "/")
	return path == "path/filepath" || slices.Contains(roots, root)
}

// leaving calls f with each error that leaves a function, as far as the function
// shows: what it returns, what it assigns to a result with a name or to another variable of
// type error, and what it gives to ToolCall.Fail. Result is the type that takes the error.
func leaving(pass *analysis.Pass, f func(e ast.Expr, result types.Type, stack []ast.Node)) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	kinds := []ast.Node{(*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.CallExpr)(nil)}
	visit(in, kinds, func(n ast.Node, stack []ast.Node) {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			sig := signatureOf(pass, stack)
			for i, e := range n.Results {
				if sig != nil && sig.Results().Len() == len(n.Results) {
					f(e, sig.Results().At(i).Type(), stack)
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				obj := object(pass, lhs)
				if len(n.Lhs) == len(n.Rhs) && obj != nil && (isResult(signatureOf(pass, stack), obj) || becomes(n, obj)) {
					f(n.Rhs[i], obj.Type(), stack)
				}
			}
		case *ast.CallExpr:
			if e := failing(pass, n); e != nil {
				f(e, types.Universe.Lookup("error").Type(), stack)
			}
		}
	})
}

// becomes reports whether the statement assigns to a variable of type error, so that what
// built the error cannot be refined any more.
func becomes(n *ast.AssignStmt, obj types.Object) bool {
	return n.Tok == token.ASSIGN && isErrorInterface(obj.Type())
}

func isErrorInterface(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// isResult reports whether the variable is a result with a name.
func isResult(sig *types.Signature, obj types.Object) bool {
	if sig == nil {
		return false
	}
	for v := range sig.Results().Variables() {
		if v == obj {
			return true
		}
	}
	return false
}
