// Package errlint holds analyzers for programs that use the errors of
// github.com/acpkit/go-sdk/rpcerr. They find what neither the compiler nor a
// first run finds: a contract with a weak recovery, a cause dropped on the way up, the text
// of somebody else's error in a message for the peer.
//
//	go install github.com/acpkit/go-sdk/rpcerr/errlint/cmd/errlint@latest
//	go vet -vettool=$(which errlint) ./...
//
// Add -fix to apply the fixes that are safe, and name an analyzer, as in
// -errcause, to run that one alone. README.md lists the rules.
package errlint

import "golang.org/x/tools/go/analysis"

// Analyzers returns all of them.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{Contract, Fail, Factory, Plain, Cause, Text, Nil}
}
