package errlint

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"iter"
	"reflect"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// contractAnalyzer checks how contracts are declared.
var contractAnalyzer = &analysis.Analyzer{
	Name: "errcontract",
	Doc: `check the declarations of error contracts

Every failure mode needs a reason in snake_case that is unique in its contract, a known kind
that is specific enough, a When, and a Recovery of at least five words. A mode of a retryable
kind must set Retryable. A contract without modes is a mistake, and so is a mode that no code
can fail with.`,
	URL:        "https://pkg.go.dev/" + pathDecl,
	Requires:   []*analysis.Analyzer{inspect.Analyzer},
	FactTypes:  []analysis.Fact{new(declaredReason)},
	ResultType: reflect.TypeFor[declarations](),
	Run:        runContract,
}

// declaredReason is the fact about a variable that holds a contract's Reason.
type declaredReason struct {
	Contract string // package path and name of the contract's variable
	Tool     string // what messages call it
	Name     string // the variable
	Reason   string
	Kind     string
	// Retryable reports whether the mode may be retried.
	Retryable bool
}

// AFact marks it as a fact.
func (*declaredReason) AFact() {}

// String returns the text that tests compare.
func (d *declaredReason) String() string { return d.Reason + " " + d.Kind }

// declarations are the reasons that the package can see, by their variables.
type declarations map[types.Object]*declaredReason

func (d declarations) of(contract string) []*declaredReason {
	var all []*declaredReason
	for _, r := range d {
		if r.Contract == contract {
			all = append(all, r)
		}
	}
	return all
}

var snake = regexp.MustCompile(`^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$`)

func runContract(pass *analysis.Pass) (any, error) {
	found := declarations{}
	for _, f := range pass.AllObjectFacts() {
		if r, ok := f.Fact.(*declaredReason); ok {
			found[f.Object] = r
		}
	}
	if !uses(pass) {
		return found, nil
	}
	c := &contractCheck{pass: pass, seen: map[string]map[string]bool{}, created: map[types.Object]*ast.CallExpr{},
		handles: map[*ast.CallExpr]types.Object{}, reasons: declarations{}}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.ValueSpec)(nil), (*ast.AssignStmt)(nil), (*ast.CompositeLit)(nil)}, c.handle)
	visit(in, []ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node, stack []ast.Node) { c.declaration(n.(*ast.CallExpr), stack) })
	for obj, call := range c.created {
		if c.seen[key(obj)] == nil {
			report(pass, call, "contract-empty", "contract "+obj.Name()+" declares no failure mode; declare some or drop it")
		}
	}
	for obj, r := range c.reasons {
		found[obj] = r
		if obj.Parent() == pass.Pkg.Scope() || isField(obj) && obj.Exported() {
			pass.ExportObjectFact(obj, r)
		}
	}
	return found, nil
}

// declare is the method that declares a failure mode.
const declare = "(*" + pathDecl + ".Contract).Declare"

type contractCheck struct {
	pass    *analysis.Pass
	seen    map[string]map[string]bool     // reasons by contract
	created map[types.Object]*ast.CallExpr // contract.New by the variable it is assigned to
	handles map[*ast.CallExpr]types.Object // the variable that a Declare is assigned to
	reasons declarations
}

func key(obj types.Object) string {
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// handle records the variable that the result of a call is assigned to.
func (c *contractCheck) handle(n ast.Node) {
	var names, values []ast.Expr
	switch n := n.(type) {
	case *ast.CompositeLit: // fields of a struct
		if st, ok := c.pass.TypesInfo.TypeOf(n).Underlying().(*types.Struct); ok {
			fields := fieldsOf(c.pass, n)
			for field := range st.Fields() {
				if v := fields[field.Name()]; v != nil {
					c.keep(field, v)
				}
			}
		}
		return
	case *ast.ValueSpec:
		for _, id := range n.Names {
			names = append(names, id)
		}
		values = n.Values
	case *ast.AssignStmt:
		names, values = n.Lhs, n.Rhs
	}
	if len(names) != len(values) {
		return
	}
	for i, v := range values {
		id := lastIdent(names[i])
		if id == nil {
			continue
		}
		if obj := c.pass.TypesInfo.ObjectOf(id); ast.Unparen(names[i]) == id || isField(obj) {
			c.keep(obj, v)
		}
	}
}

// keep records that a variable or a field gets a value.
func (c *contractCheck) keep(obj types.Object, v ast.Expr) {
	call, _ := ast.Unparen(v).(*ast.CallExpr)
	switch called(c.pass, v) {
	case pathDecl + ".New":
		if !isField(obj) {
			c.created[obj] = call
		}
	case declare:
		c.handles[call] = obj
	}
}

func isField(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && v.IsField()
}

// declaration checks one call of Declare.
func (c *contractCheck) declaration(call *ast.CallExpr, stack []ast.Node) {
	on := receiver(call)
	if called(c.pass, call) != declare || len(call.Args) != 1 || on == nil {
		return
	}
	var contract types.Object
	if id := lastIdent(on); id != nil {
		contract = c.pass.TypesInfo.Uses[id]
	}
	report := func(at ast.Node, category, format string, args ...any) {
		report(c.pass, at, category, fmt.Sprintf(format, args...))
	}
	handle := c.handles[call]
	_, alone := stack[len(stack)-2].(*ast.ExprStmt) // the result is not used
	switch {
	case handle == nil && !alone, isField(handle):
		// The result is stored in a struct or a list, or passed to a function, and may be used from
		// there.
	case handle == nil || handle.Name() == "_":
		report(call, "contract-unused", "nothing can fail with this mode: keep what Declare returns in a package-level variable")
	case handle.Parent() != c.pass.Pkg.Scope(), functionAround(stack) != nil:
		report(call, "contract-local", "declare failure modes in package-level variables: Declare panics on a bad one, which should happen at start-up")
	}
	if c.seen[key(contract)] == nil {
		c.seen[key(contract)] = map[string]bool{}
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if !ok {
		report(call.Args[0], "contract-literal", "write the mode as a literal, so that it can be read and checked where it is declared")
		return
	}
	fields := fieldsOf(c.pass, lit)

	reason := c.text(lit, fields, "Reason", "contract-reason-required", report)
	if reason != "" {
		if !snake.MatchString(reason) {
			report(fields["Reason"], "contract-reason-format", "reason %q is not in snake_case", reason)
		}
		if c.seen[key(contract)][reason] {
			report(fields["Reason"], "contract-reason-unique", "reason %q is declared twice in this contract", reason)
		}
		c.seen[key(contract)][reason] = true
	}
	k := c.kind(lit, fields, report)
	if fields["Retryable"] == nil && retryable[k] {
		report(fields["Kind"], "contract-retryable", "failures of kind %s are usually temporary: say Retryable: true, or Retryable: false if this one does not", k)
	}
	c.text(lit, fields, "When", "contract-when-required", report)
	recovery := c.text(lit, fields, "Recovery", "contract-recovery-required", report)
	if n := len(strings.Fields(recovery)); n > 0 && n < 5 {
		report(fields["Recovery"], "contract-recovery-min-words", "recovery %q is too short to help: say in at least five words what to do next", recovery)
	}
	if handle != nil && reason != "" {
		tool := ""
		if contract != nil {
			tool = contract.Name()
		}
		r := &declaredReason{Contract: key(contract), Tool: tool, Name: handle.Name(), Reason: reason, Kind: k,
			Retryable: isTrue(c.pass, fields["Retryable"])}
		if old := c.reasons[handle]; old != nil && *old != *r {
			r = &declaredReason{} // a field of several structs: which contract it belongs to is not known
		}
		c.reasons[handle] = r
	}
}

// text checks a required text. It returns "" when the text is not constant.
func (c *contractCheck) text(lit *ast.CompositeLit, fields map[string]ast.Expr, name, category string, report func(ast.Node, string, string, ...any)) string {
	e, ok := fields[name]
	if !ok {
		report(lit, category, "%s is missing", name)
		return ""
	}
	s, constant := stringOf(c.pass, e)
	if constant && strings.TrimSpace(s) == "" {
		report(e, category, "%s is empty", name)
	}
	return s
}

func (c *contractCheck) kind(lit *ast.CompositeLit, fields map[string]ast.Expr, report func(ast.Node, string, string, ...any)) string {
	e, ok := fields["Kind"]
	if !ok {
		report(lit, "contract-kind-required", "Kind is missing")
		return ""
	}
	k, constant := stringOf(c.pass, e)
	if !constant {
		return ""
	}
	named, ok := types.Unalias(c.pass.TypesInfo.TypeOf(e)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return k
	}
	if _, known := kindConstants(named.Obj().Pkg())[k]; !known {
		report(e, "contract-kind-unknown", "%q is none of the constants of package kind", k)
	} else if k == "unknown" {
		report(e, "contract-kind-vague", "kind.Unknown says nothing to the caller; choose a kind that says what went wrong")
	}
	return k
}

// fieldsOf returns the values of a literal by the names of their fields.
func fieldsOf(pass *analysis.Pass, lit *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	st, _ := pass.TypesInfo.TypeOf(lit).Underlying().(*types.Struct)
	for i, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				fields[id.Name] = kv.Value
			}
		} else if st != nil && i < st.NumFields() {
			fields[st.Field(i).Name()] = elt
		}
	}
	return fields
}

// elements returns the values of a literal.
func elements(lit *ast.CompositeLit) iter.Seq[ast.Expr] {
	return func(yield func(ast.Expr) bool) {
		for _, elt := range lit.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !yield(elt) {
				return
			}
		}
	}
}

func lastIdent(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

func isTrue(pass *analysis.Pass, e ast.Expr) bool {
	tv, ok := pass.TypesInfo.Types[e]
	return ok && tv.Value != nil && tv.Value.Kind() == constant.Bool && constant.BoolVal(tv.Value)
}

// retryable has the kinds that may be retried unless the error excludes it. A Mode always sets this
// explicitly.
var retryable = map[string]bool{"rate_limited": true, "timeout": true, "service_unavailable": true, "transient": true, "mcp_unavailable": true}

// functionAround returns the function around the call on top of the stack, and nil at package
// level and in a function init.
func functionAround(stack []ast.Node) ast.Node {
	for _, n := range stack {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				return nil
			}
			return n
		case *ast.FuncLit:
			return n
		}
	}
	return nil
}
