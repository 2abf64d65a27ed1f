// Package contract declares the failure modes of a tool in one place. The tool fails with
// the handle of a declared mode.
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
// The reason is sent as data.reason, where clients compare it; a misspelt reason does not
// compile. The declared recovery is sent only after WithHint(NoMatch.Recovery()). [Contract.Markdown]
// prints the list. A declaration that lacks something panics when the program starts; the
// analyzers of module rpcerr/errlint find such declarations, and weak recoveries, without
// running the program.
//
// Code below the tool does not know the contract. It sets the reason with WithReason of
// package kind, and [Hint] returns the recovery that the tool declares for it. Declare each
// tool's contract beside the tool, even if two contracts look alike.
package contract
