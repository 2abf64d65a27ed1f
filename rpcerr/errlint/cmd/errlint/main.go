// Command errlint checks how a program uses the errors of package rpcerr:
//
//	go tool errlint ./...
//	go vet -vettool=$(which errlint) ./...
//
// The first is for a module that has it as a tool. Both take the flags of go vet, such as -fix.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/acpkit/go-sdk/rpcerr/errlint"
)

func main() {
	if args := os.Args[1:]; len(args) > 0 && isPattern(args[len(args)-1]) {
		os.Exit(vet(args))
	}
	unitchecker.Main(errlint.Analyzers()...)
}

// isPattern reports whether the last argument names packages. Go vet itself calls this
// program with flags alone, or with a file that describes one package.
func isPattern(arg string) bool {
	return !strings.HasPrefix(arg, "-") && !strings.HasSuffix(arg, ".cfg")
}

// vet runs go vet with this program and returns its exit status.
func vet(args []string) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "errlint:", err)
		return 1
	}
	cmd := exec.Command("go", append([]string{"vet", "-vettool=" + self}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "errlint:", err)
		return 1
	}
	return 0
}
