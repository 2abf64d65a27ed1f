// Package tools declares a contract that another package keeps.
package tools

import (
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var Articles = contract.New("fetch_articles")

var NoMatch = Articles.Declare(contract.Mode{
	Reason: "no_match", Kind: kind.NotFound,
	When: "No requested id returned an article.", Recovery: "Call search_articles to find ids that exist.",
})
