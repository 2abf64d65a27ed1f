// Command errlint checks how a program uses the errors of package rpcerr. It is
// run by go vet:
//
//	go vet -vettool=$(which errlint) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/acpkit/go-sdk/rpcerr/errlint"
)

func main() { unitchecker.Main(errlint.Analyzers()...) }
