// Package errlint holds analyzers for programs that use the errors of
// github.com/acpkit/go-sdk/rpcerr. They find what neither the compiler nor a first run
// finds: a contract with a weak recovery, a cause that is dropped, the text of an error of
// another package in a message for the peer.
//
//	go get -tool github.com/acpkit/go-sdk/rpcerr/errlint/cmd/errlint@latest
//	go tool errlint ./...
//
// Add -fix to apply the suggested fixes. The name of an analyzer, as in -errcause, runs that
// one alone. README.md lists the rules.
package errlint

import "golang.org/x/tools/go/analysis"

// Analyzers returns all analyzers.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{Contract, Fail, Factory, BadUse, Embed, Plain, Cause, Text, Nil}
}
