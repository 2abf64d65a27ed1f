package errlint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// causeAnalyzer checks that an error built because of another one keeps it.
var causeAnalyzer = analyzer("errcause", "https://pkg.go.dev/"+pathKind, `check that causes are not dropped

An error that is returned because another one occurred keeps the other one as its cause,
by Newf or WithCause: the log, errors.Is and errors.As need it, and the peer never sees it.`, runCause)

func runCause(pass *analysis.Pass, in *inspector.Inspector) {
	f := flowOf(pass)
	leaving(pass, func(e ast.Expr, _ types.Type, stack []ast.Node) {
		errs := occurred(f, stack)
		if len(errs) == 0 {
			return
		}
		for _, b := range builtIn(f, e) {
			if !b.keepsAny(f, errs) {
				reportCause(pass, b, errs[0])
				return
			}
		}
	})
}

// leaver is an error that leaves: the expression, and the chain that built it.
type leaver struct {
	chain
	at   ast.Expr // what is reported and, if fixable, extended
	more []ast.Expr
	// fixable reports whether at is the expression that builds the error.
	fixable bool
	// bare is a constant of type kind.Kind, sentinel one of the variables of rpcerr.
	bare, sentinel bool
}

// builtIn returns the errors of ours that e is: built there, held by a variable, or
// wrapped by fmt.Errorf.
func builtIn(f *flow, e ast.Expr) []leaver {
	pass := f.pass
	if c, ok := chainOf(pass, e); ok && isOurs(pass.TypesInfo.TypeOf(e)) {
		return []leaver{{chain: c, at: e, fixable: true}}
	}
	if isBare(pass, e) {
		return []leaver{{at: e, bare: true}}
	}
	if isSentinel(pass, e) {
		return []leaver{{at: e, sentinel: true}}
	}
	if call, ok := errorf(pass, e); ok {
		var all []leaver
		for _, inside := range wrapped(pass, call.Args[0], call.Args[1:]) {
			for _, b := range builtIn(f, inside) {
				b.more = append(b.more, call.Args[1:]...)
				all = append(all, b)
			}
		}
		return all
	}
	v := f.value(e, e.Pos())
	if v == ast.Unparen(e) || reportedThere(f, e) {
		return nil
	}
	if c, ok := chainOf(pass, v); ok {
		return []leaver{{chain: c, at: e}}
	}
	if isBare(pass, v) {
		return []leaver{{at: e, bare: true}}
	}
	return nil
}

// reportedThere reports whether the assignment to the variable is checked itself.
func reportedThere(f *flow, e ast.Expr) bool {
	obj := object(f.pass, e)
	if obj == nil {
		return true
	}
	a, ok := f.last(obj, e.Pos())
	n, isAssign := a.stmt.(*ast.AssignStmt)
	return ok && isAssign && becomes(n, obj)
}

// isBare reports whether e is only a kind.
func isBare(pass *analysis.Pass, e ast.Expr) bool {
	tv, ok := pass.TypesInfo.Types[ast.Unparen(e)]
	return ok && tv.Value != nil && isNamed(tv.Type, pathKind, "Kind")
}

// isSentinel reports whether e is a variable of rpcerr that stands for a code.
func isSentinel(pass *analysis.Pass, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := pass.TypesInfo.Uses[sel.Sel].(*types.Var)
	return ok && v.Pkg() != nil && v.Pkg().Path() == pathCore && !v.IsField()
}

// errorf returns the call of fmt.Errorf that e is.
func errorf(pass *analysis.Pass, e ast.Expr) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return call, ok && called(pass, call) == "fmt.Errorf" && len(call.Args) > 0
}

// keepsAny reports whether the error keeps one of those that led to it.
func (l leaver) keepsAny(f *flow, errs []*types.Var) bool {
	return slices.ContainsFunc(append(l.causes(f.pass), l.more...), func(e ast.Expr) bool {
		return slices.ContainsFunc(errs, func(err *types.Var) bool { return f.holds(e, err) })
	})
}

func reportCause(pass *analysis.Pass, l leaver, err *types.Var) {
	with := ".WithCause(" + err.Name() + ")"
	advice := "add " + with + ", the peer does not see it"
	if l.sentinel {
		advice = "build the error with a factory of package rpcerr and " + with + ", the peer does not see the cause"
	}
	if l.bare {
		advice = "build an error from the kind with New or Newf and " + err.Name() + " as its cause, which the peer does not see"
	}
	add := edit(l.at.End(), l.at.End(), with)
	if l.cause != nil {
		advice = "pass " + err.Name() + " in place of nil, the peer does not see it"
		add = edit(l.cause.Pos(), l.cause.End(), err.Name())
	}
	var edits []analysis.TextEdit
	// With another cause no tool can say what to do.
	if l.fixable && len(l.causes(pass)) == 0 && means(pass, l.at.Pos(), err) {
		edits = append(edits, add)
	}
	report(pass, l.at, "error-cause", "this drops "+err.Name()+": "+advice, edits...)
}

// means reports whether the name of the variable still is that variable at pos.
func means(pass *analysis.Pass, pos token.Pos, v types.Object) bool {
	scope := pass.Pkg.Scope().Innermost(pos)
	if scope == nil {
		return false
	}
	_, obj := scope.LookupParent(v.Name(), pos)
	return obj == v
}

// occurred returns the error variables that hold an error at the node on top of the stack,
// according to the innermost condition around it that mentions one. A variable that has been
// assigned since then does not count.
func occurred(f *flow, stack []ast.Node) []*types.Var {
	pass := f.pass
	var settled []*types.Var // what a condition further inside determines
	for i := len(stack) - 2; i >= 0; i-- {
		inside, from := stack[i+1], stack[i+1].Pos()
		var errs, exact []*types.Var
		switch n := stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.IfStmt:
			switch inside {
			case n.Body:
				errs, exact = append(found(pass, n.Cond), asked(pass, n.Init)...), known(pass, n.Cond)
			case n.Else:
				errs = foundElse(pass, n.Cond)
			}
		case *ast.CaseClause:
			if from = n.Colon; i >= 2 {
				errs, exact = foundCase(pass, stack[i-2], n)
			}
		}
		settled = append(settled, exact...)
		var live []*types.Var
		for _, err := range errs {
			if !slices.Contains(settled, err) && !f.changedBetween(err, from, stack[len(stack)-1].Pos()) {
				live = append(live, err)
			}
		}
		if live != nil {
			return live
		}
	}
	return nil
}

// foundCase returns the errors that have occurred in a case of a switch, and those that it determines.
func foundCase(pass *analysis.Pass, n ast.Node, clause *ast.CaseClause) (errs, settled []*types.Var) {
	s, ok := n.(*ast.SwitchStmt)
	switch {
	case !ok:
	case s.Tag == nil:
		for _, e := range clause.List {
			errs = append(errs, found(pass, e)...)
			settled = append(settled, known(pass, e)...)
		}
	case len(clause.List) > 0:
		settled = variable(pass, s.Tag) // switch err { case io.EOF: ... }
	}
	return errs, settled
}

// known returns the errors that a condition determines. For err == io.EOF a cause would add nothing
// to the condition.
func known(pass *analysis.Pass, cond ast.Expr) (errs []*types.Var) {
	e, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	switch e.Op {
	case token.EQL:
		if !isNil(pass, e.Y) {
			return variable(pass, e.X)
		}
	case token.LAND:
		return append(known(pass, e.X), known(pass, e.Y)...)
	case token.LOR:
		right := known(pass, e.Y)
		for _, err := range known(pass, e.X) {
			if slices.Contains(right, err) {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// found returns the errors that have occurred if a condition holds: err != nil,
// errors.Is(err, ...) and other functions of that form.
func found(pass *analysis.Pass, cond ast.Expr) []*types.Var {
	switch e := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR:
			return append(found(pass, e.X), found(pass, e.Y)...)
		case token.NEQ:
			if isNil(pass, e.Y) {
				return variable(pass, e.X)
			}
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return foundElse(pass, e.X)
		}
	case *ast.CallExpr:
		return inquiry(pass, e)
	}
	return nil
}

// foundElse returns the errors that have occurred if a condition does not hold:
// err == nil.
func foundElse(pass *analysis.Pass, cond ast.Expr) []*types.Var {
	e, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	switch {
	case !ok:
	case e.Op == token.EQL && isNil(pass, e.Y):
		return variable(pass, e.X)
	case e.Op == token.LOR:
		return append(foundElse(pass, e.X), foundElse(pass, e.Y)...)
	}
	return nil
}

// inquiry returns the error that is passed to a function such as errors.Is.
func inquiry(pass *analysis.Pass, call *ast.CallExpr) []*types.Var {
	switch called(pass, call) {
	case "errors.Is", "errors.As", "errors.AsType", "os.IsNotExist", "os.IsExist", "os.IsPermission", "os.IsTimeout":
		return variable(pass, call.Args[0])
	}
	return nil
}

// asked handles if e, ok := errors.AsType[T](err); ok.
func asked(pass *analysis.Pass, init ast.Stmt) []*types.Var {
	assign, ok := init.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	errs := inquiry(pass, call)
	if errs != nil {
		errs = append(errs, variable(pass, assign.Lhs[0])...) // the error that was found is sufficient
	}
	return errs
}

func isNil(pass *analysis.Pass, e ast.Expr) bool {
	tv, ok := pass.TypesInfo.Types[e]
	return ok && tv.IsNil()
}

// variable returns the variable that e names if it holds an error.
func variable(pass *analysis.Pass, e ast.Expr) []*types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || !types.Implements(v.Type(), errorType) {
		return nil
	}
	return []*types.Var{v}
}
