// Package contract declares the ways in which a tool fails, once, and makes it
// fail only in those.
//
//	var articles = contract.New("fetch_articles")
//
//	var NoMatch = articles.Declare(contract.Mode{
//		Reason:   "no_match",
//		Kind:     kind.NotFound,
//		When:     "No requested id returned an article.",
//		Recovery: "Call search_articles to find ids that exist.",
//	})
//
//	func fetch(ids []string) ([]Article, error) {
//		...
//		return nil, NoMatch.Failf("None of the %d ids returned an article", len(ids))
//	}
//
// The reason travels as data.reason, where clients compare it; a misspelt reason does not
// compile. The declared recovery travels only if WithRecovery asks for it. [Contract.Markdown] prints the list. A declaration that lacks something
// panics when the program starts; the analyzers of module rpcerr/errlint find that
// before, and weak recoveries with it.
//
// Code below the tool knows no contract. It names the reason itself, with
// WithReason of package kind, and [Hint] finds what the tool declares for it.
// Declare each tool's contract beside the tool, even when two look alike: it is
// part of what the tool is.
package contract
