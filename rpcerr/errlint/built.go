package errlint

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// built describes a call that builds an error for the peer.
type built struct {
	call *ast.CallExpr
	fn   *types.Func
	// kind is the kind of the error, "" when it is not known before the program runs.
	kind string
	// declared reports whether a Fail of a contract built it.
	declared bool
	// texts are the arguments that the peer reads, data those that it reads as data.
	texts, data []ast.Expr
	// cause is the argument that becomes the cause, or nil.
	cause ast.Expr
	// operands are those of the format.
	operands []ast.Expr
}

// constructors has the functions that build errors, by package and name. If a kind is in
// parentheses, the receiver or an argument determines the kind.
var constructors = map[string]map[string]string{
	pathCore: {
		"New": "(code)", "ParseError": "parse_error", "InvalidRequest": "invalid_request", "MethodNotFound": "method_not_found",
		"InvalidParams": "invalid_params", "InternalError": "internal", "RequestCancelled": "cancelled", "AuthRequired": "unauthorized",
		"ResourceNotFound": "not_found", "SessionNotFound": "not_found", "UnsupportedProtocolVersion": "unsupported_version",
	},
	pathKind: {"Kind.New": "(receiver)", "Kind.Newf": "(receiver)", "Upstream": "(status)", "UpstreamRateLimit": "rate_limited"},
	pathDecl: {"Reason.Fail": "(declared)", "Reason.Failf": "(declared)"},
	pathTool: {
		"New": "(category)", "Newf": "(category)", "Auth": "unauthorized", "NotFound": "not_found", "RateLimited": "rate_limited",
		"Validation": "validation", "Timeout": "timeout", "Internal": "internal",
	},
	pathCode:  {"Code.New": "(tool code)", "Code.Newf": "(tool code)"},
	pathTools: {"Failf": "", "Denyf": ""},
}

// toolCodeKinds are the kinds of the codes of package toolcode.
var toolCodeKinds = map[string]string{
	"invalid_input": "validation", "not_found": "not_found", "not_a_file": "validation", "is_binary": "validation",
	"no_match": "validation", "ambiguous_match": "validation", "patch_failed": "conflict", "timeout": "timeout",
	"output_limit": "validation", "too_large": "validation", "path_escape": "forbidden", "io_error": "service_unavailable", "internal": "internal",
}

// statusKinds are the kinds of statuses that kind.FromUpstreamStatus does not decide by their class.
var statusKinds = map[int64]string{
	400: "invalid_params", 401: "unauthorized", 402: "forbidden", 403: "forbidden", 404: "not_found", 408: "timeout", 425: "timeout",
	504: "timeout", 409: "conflict", 423: "conflict", 424: "conflict", 422: "validation", 429: "rate_limited",
}

// statusKind is kind.FromUpstreamStatus.
func statusKind(status int64) string {
	return cmp.Or(statusKinds[status], map[int64]string{4: "invalid_request", 5: "service_unavailable"}[status/100])
}

// builtBy describes call, or reports false when it builds no error.
func builtBy(pass *analysis.Pass, call *ast.CallExpr) (built, bool) {
	fn := callee(pass, call)
	if fn == nil || fn.Pkg() == nil {
		return built{}, false
	}
	name := fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		named, ok := types.Unalias(recv.Type()).(*types.Named)
		if !ok || receiver(call) == nil {
			return built{}, false
		}
		name = named.Obj().Name() + "." + name
	}
	kind, ok := constructors[fn.Pkg().Path()][name]
	if !ok {
		return built{}, false
	}
	b := built{call: call, fn: fn, kind: kind}
	args := append(slices.Clone(call.Args), nil, nil) // what is missing is not constant
	switch kind {
	case "(receiver)":
		b.kind, _ = stringOf(pass, receiver(call))
	case "(status)":
		status, _ := intOf(pass, args[1])
		b.kind = statusKind(status)
	case "(tool code)":
		code, _ := stringOf(pass, receiver(call))
		b.kind = toolCodeKinds[code]
	case "(category)":
		category, _ := stringOf(pass, args[1])
		b.kind = categoryKinds[category]
	case "(declared)":
		b.kind, b.declared = "", true
	case "(code)":
		code, _ := intOf(pass, args[0])
		b.kind = protocolCodes[code].kind
	}
	b.divide(name)
	return b, true
}

// divide determines which arguments of the call are texts, data and operands.
func (b *built) divide(name string) {
	args, format := b.call.Args, -1
	switch name {
	case "Failf", "Denyf":
		format = 0
	case "Kind.Newf", "Code.Newf", "Reason.Failf":
		format = 1
	case "Newf": // of a tool error: code, category, cause, format
		format = 3
	case "New":
		if b.fn.Pkg().Path() == pathCore && len(args) == 3 {
			b.texts, b.data = args[1:2], args[2:]
			return
		}
	case "ParseError", "InvalidRequest", "InvalidParams", "InternalError", "RequestCancelled", "AuthRequired":
		b.data = args
		return
	}
	if format < 0 || len(args) <= format {
		b.texts = args
		return
	}
	if format > 0 {
		b.cause = args[format-1]
		b.texts = append(b.texts, args[:format-1]...)
	}
	if b.texts = append(b.texts, args[format]); b.call.Ellipsis.IsValid() {
		b.texts = append(b.texts, args[format+1:]...)
		return
	}
	b.operands = args[format+1:]
}

// categoryKinds are the kinds of the categories of a tool error.
var categoryKinds = map[string]string{
	"auth": "unauthorized", "rate_limit": "rate_limited", "not_found": "not_found", "validation": "validation",
	"internal": "internal", "timeout": "timeout",
}

// chain is an expression such as kind.NotFound.New("x").WithHint("y"): the call that
// builds the error and the calls that follow it, in the order they are written.
type chain struct {
	built
	refining []*ast.CallExpr
}

// chainOf takes an expression apart.
func chainOf(pass *analysis.Pass, e ast.Expr) (chain, bool) {
	var refining []*ast.CallExpr
	for e != nil {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return chain{}, false
		}
		if b, ok := builtBy(pass, call); ok {
			slices.Reverse(refining)
			return chain{b, refining}, true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isOurs(pass.TypesInfo.TypeOf(sel.X)) {
			return chain{}, false
		}
		refining = append(refining, call)
		e = sel.X
	}
	return chain{}, false
}

// isOurs reports whether t is one of the error types.
func isOurs(t types.Type) bool {
	return t != nil && (isNamed(t, pathCore, "RequestError") || isNamed(t, pathKind, "Error"))
}

// causes returns what the chain makes the cause of the error.
func (c chain) causes(pass *analysis.Pass) []ast.Expr {
	var all []ast.Expr
	if c.cause != nil && !isNil(pass, c.cause) {
		all = append(all, c.cause)
	}
	for _, call := range c.refining {
		if fn := callee(pass, call); fn != nil && fn.Name() == "WithCause" {
			all = append(all, call.Args...)
		}
	}
	return all
}

// wrapped returns the operands of %w in a format.
func wrapped(pass *analysis.Pass, format ast.Expr, operands []ast.Expr) (all []ast.Expr) {
	for i, verb := range verbsOf(pass, format) {
		if verb == 'w' && i < len(operands) {
			all = append(all, operands[i])
		}
	}
	return all
}

// verbsOf returns the verbs of a constant format, in the order of the operands. It gives up, and
// returns nil, where verbs choose their operands themselves, as in %[2]d or %*d.
func verbsOf(pass *analysis.Pass, format ast.Expr) (verbs []byte) {
	text, ok := stringOf(pass, format)
	if !ok || strings.ContainsAny(text, "*") && strings.Contains(text, "%*") || strings.Contains(text, "%[") {
		return nil
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		i++
		for i < len(text) && strings.IndexByte("+-# 0123456789.", text[i]) >= 0 {
			i++
		}
		if i < len(text) && text[i] != '%' {
			verbs = append(verbs, text[i])
		}
	}
	return verbs
}
