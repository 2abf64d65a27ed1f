// Package articles compiles, passes go vet, and makes six mistakes that errlint
// finds; README.md one folder up shows the command and what it prints.
package articles

import (
	"fmt"
	"os"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var articles = contract.New("fetch_articles")

// NoMatch is the failure that callers plan for.
var NoMatch = articles.Declare(contract.Mode{
	Reason:   "noMatch",
	Kind:     kind.NotFound,
	When:     "No requested id returned an article.",
	Recovery: "Try again.",
})

// Fetch reads an article.
func Fetch(id string) ([]byte, error) {
	if id == "" {
		return nil, fmt.Errorf("empty id")
	}
	text, err := os.ReadFile(id)
	if os.IsNotExist(err) {
		return nil, kind.NotFound.New("There is no such article.").WithCause(err)
	}
	if err != nil {
		return nil, rpcerr.InternalError(err.Error())
	}
	if len(text) == 0 {
		return nil, NoMatch.Failf(nil, "Article %s is empty", id)
	}
	return text, nil
}
