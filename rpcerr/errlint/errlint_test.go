package errlint_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/acpkit/go-sdk/rpcerr/errlint"
)

// The cases stand in testdata, a module of its own that uses the real packages.
func TestAnalyzers(t *testing.T) {
	for name, a := range map[string]*analysis.Analyzer{
		"contract": errlint.Contract, "plain": errlint.Plain, "onerror": errlint.Plain, "across": errlint.Fail, "use": errlint.BadUse, "embed": errlint.Embed,
	} {
		t.Run(name, func(t *testing.T) { analysistest.Run(t, analysistest.TestData(), a, "./"+name) })
	}
	for name, a := range map[string]*analysis.Analyzer{
		"fail": errlint.Fail, "factory": errlint.Factory, "cause": errlint.Cause, "text": errlint.Text, "nilerr": errlint.Nil,
	} {
		t.Run(name, func(t *testing.T) { analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), a, "./"+name) })
	}
}

func TestNothingToSay(t *testing.T) {
	for _, a := range errlint.Analyzers() {
		analysistest.Run(t, analysistest.TestData(), a, "./clean")
	}
}

func TestDocs(t *testing.T) {
	if err := analysis.Validate(errlint.Analyzers()); err != nil {
		t.Fatal(err)
	}
}
