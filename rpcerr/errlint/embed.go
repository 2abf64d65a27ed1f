package errlint

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// Embed checks that error types do not embed ours.
var Embed = analyzer("errembed", "https://pkg.go.dev/"+pathCore, `check that error types do not embed the error types of this module

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
