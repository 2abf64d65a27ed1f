package errlint

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// factoryAnalyzer checks that errors are built with the most specific function.
var factoryAnalyzer = analyzer("errfactory", "https://pkg.go.dev/"+pathCore, `check that errors are built by the factory made for them

A RequestError with a code of the protocol that is not built by its factory lacks the message
and the data that other programs look for; so does a tool error with a standard code. An
application's own codes must lie outside the reserved ranges.`, runFactory)

// protocolCodes has the kind and the factory of each code, its fixed message, and whether the factory
// takes the data as its argument.
var protocolCodes = map[int64]struct {
	kind, name, message string
	takesData           bool
}{
	-32700: {"parse_error", "ParseError", "Parse error", true},
	-32600: {"invalid_request", "InvalidRequest", "Invalid request", true},
	-32601: {"method_not_found", "MethodNotFound", "", false},
	-32602: {"invalid_params", "InvalidParams", "Invalid params", true},
	-32603: {"internal", "InternalError", "Internal error", true},
	-32800: {"cancelled", "RequestCancelled", "Request cancelled", true},
	-32000: {"unauthorized", "AuthRequired", "Authentication required", true},
	-32002: {"not_found", "ResourceNotFound or rpcerr.SessionNotFound", "", false},
	-32022: {"unsupported_version", "UnsupportedProtocolVersion", "", false},
}

// toolFactories has the factory of each standard code of a tool error, with its category. The
// retryable ones are missing, because New does not set Retryable.
var toolFactories = map[string]struct{ name, category string }{
	"AUTH_ERROR":       {"Auth", "auth"},
	"NOT_FOUND":        {"NotFound", "not_found"},
	"VALIDATION_ERROR": {"Validation", "validation"},
	"INTERNAL_ERROR":   {"Internal", "internal"},
}

func runFactory(pass *analysis.Pass, in *inspector.Inspector) {
	retried := retriedCalls(pass, in)
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch name := called(pass, n); {
			case name == "(*"+pathKind+".Error).WithNumber" && len(n.Args) == 1:
				reservedCode(pass, n.Args[0])
			case len(n.Args) < 3:
			case name == pathCore+".New":
				requestError(pass, n, n.Args[0], n.Args[1], n.Args[2], n.Fun)
			case name == pathTool+".New" && !passing(pass, n, retried):
				toolError(pass, n)
			case name == pathTool+".Newf":
				passing(pass, n, retried)
			}
		case *ast.CompositeLit:
			t := pass.TypesInfo.TypeOf(n)
			if _, pointer := types.Unalias(t).(*types.Pointer); pointer {
				return // the elements of a list of pointers
			}
			fields := fieldsOf(pass, n)
			switch {
			case isNamed(t, pathCore, "RequestError") && fields["Code"] != nil:
				requestError(pass, n, fields["Code"], nil, nil, nil)
			case isNamed(t, pathKind, "Error") && len(n.Elts) > 0:
				report(pass, n, "error-factory", "build it from the kind, as in kind.NotFound.New(message): that sets what belongs to the kind and refuses what is missing")
			}
		}
	})
}

func requestError(pass *analysis.Pass, at ast.Node, code, message, data, fun ast.Expr) {
	n, ok := intOf(pass, code)
	if !ok {
		return
	}
	f, ok := protocolCodes[n]
	if !ok {
		reservedCode(pass, code)
		return
	}
	var edits []analysis.TextEdit
	if sel, ok := fun.(*ast.SelectorExpr); ok && f.takesData {
		if text, ok := stringOf(pass, message); ok && (text == f.message || text == "") { // the same is sent
			edits = append(edits, edit(sel.Sel.Pos(), sel.Sel.End(), f.name), edit(code.Pos(), data.Pos(), ""))
		}
	}
	report(pass, at, "error-factory", fmt.Sprintf("use rpcerr.%s in place of code %d by hand", f.name, n), edits...)
}

// reservedCode reports a code that only a later version of the protocol may assign.
func reservedCode(pass *analysis.Pass, code ast.Expr) {
	n, ok := intOf(pass, code)
	if _, assigned := protocolCodes[n]; ok && !assigned && (-32768 <= n && n <= -32000 || -32899 <= n && n <= -32800) {
		report(pass, code, "error-code-reserved", fmt.Sprintf("code %d is not assigned and lies in a reserved range; choose one outside -32768..-32000 and -32899..-32800", n))
	}
}

// passingCategories are the categories of failures that are usually temporary, and their factories.
var passingCategories = map[string]string{"rate_limit": "RateLimited", "timeout": "Timeout"}

// passing reports a tool error of such a category that does not set whether it may be retried: New
// does not set it.
func passing(pass *analysis.Pass, call *ast.CallExpr, retried map[*ast.CallExpr]bool) bool {
	category, _ := stringOf(pass, call.Args[1])
	factory := passingCategories[category]
	if factory == "" || retried[call] {
		return false
	}
	report(pass, call, "error-retryable", fmt.Sprintf("this is not retryable, and failures of category %s are usually temporary: use toolerr.%s and WithCode, or add WithRetryAfter or WithRetryable", category, factory))
	return true
}

// retriedCalls returns the calls that build an error which a later method refines by saying
// whether it may be retried.
func retriedCalls(pass *analysis.Pass, in *inspector.Inspector) map[*ast.CallExpr]bool {
	retried := map[*ast.CallExpr]bool{}
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		c, ok := chainOf(pass, n.(*ast.CallExpr))
		if !ok {
			return
		}
		for _, call := range c.refining {
			switch fn := callee(pass, call); fn.Name() {
			case "WithRetryAfter", "WithRetryable", "WithNoDelay":
				retried[c.call] = true
			}
		}
	})
	return retried
}

func toolError(pass *analysis.Pass, call *ast.CallExpr) {
	code, _ := stringOf(pass, call.Args[0])
	f, ok := toolFactories[code]
	if category, constant := stringOf(pass, call.Args[1]); !ok || !constant || category != f.category {
		return
	}
	var edits []analysis.TextEdit
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		edits = append(edits, edit(sel.Sel.Pos(), sel.Sel.End(), f.name), edit(call.Args[0].Pos(), call.Args[2].Pos(), ""))
	}
	report(pass, call, "error-factory", "use toolerr."+f.name+" for code "+code, edits...)
}

// embedAnalyzer checks that error types do not embed ours.
var embedAnalyzer = analyzer("errembed", "https://pkg.go.dev/"+pathCore, `check that error types do not embed the error types of this module

A struct that embeds *rpcerr.RequestError has a field RequestError, which hides the method
of that name. The peer then reads only "Internal error". A struct that embeds *kind.Error
has a field Error, which hides the method Error, so the struct is not an error. Use a named field and add a method:

	type QuotaError struct {
		wire  *rpcerr.RequestError
		Limit int
	}

	func (e *QuotaError) Error() string                      { return e.wire.Error() }
	func (e *QuotaError) RequestError() *rpcerr.RequestError { return e.wire }`, runEmbed)

func runEmbed(pass *analysis.Pass, in *inspector.Inspector) {
	in.Preorder([]ast.Node{(*ast.TypeSpec)(nil)}, func(n ast.Node) {
		spec := n.(*ast.TypeSpec)
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, field := range st.Fields.List {
			t := pass.TypesInfo.TypeOf(field.Type)
			if len(field.Names) > 0 || !isOurs(t) {
				continue
			}
			hidden := "Error, so that this is no error"
			if isNamed(t, pathCore, "RequestError") {
				hidden = "RequestError, so that this leaves as an internal error"
			}
			report(pass, field, "error-embedded",
				"the embedded field hides the method "+hidden+": give the field a name, and the type a method RequestError() *rpcerr.RequestError")
		}
	})
}
