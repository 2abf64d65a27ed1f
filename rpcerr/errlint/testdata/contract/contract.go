package contract

import (
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var articles = contract.New("fetch_articles")

var NoMatch = articles.Declare(contract.Mode{ // want NoMatch:"no_match not_found"
	Reason:   "no_match",
	Kind:     kind.NotFound,
	When:     "No requested id returned an article.",
	Recovery: "Call search_articles to find ids that exist.",
})

var Twice = articles.Declare(contract.Mode{ // want Twice:"no_match timeout"
	Reason:   "no_match",   // want `reason "no_match" is declared twice in this contract`
	Kind:     kind.Timeout, // want `failures of kind timeout are usually temporary: say Retryable: true, or Retryable: false`
	When:     "It took too long.",
	Recovery: "Ask for fewer articles and try again.",
})

var Said = articles.Declare(contract.Mode{ // want Said:"said rate_limited"
	Reason: "said", Kind: kind.RateLimited, Retryable: false,
	When: "The quota of the month is used up.", Recovery: "Ask the user to buy more of it.",
})

var Nothing = articles.Declare(contract.Mode{}) // want `Reason is missing` `Kind is missing` `When is missing` `Recovery is missing`

var Empty = articles.Declare(contract.Mode{
	Reason:   "",   // want `Reason is empty`
	Kind:     "",   // want `"" is none of the constants of package kind`
	When:     " ",  // want `When is empty`
	Recovery: "\n", // want `Recovery is empty`
})

var BadFormat = articles.Declare(contract.Mode{ // want BadFormat:"BadFormat unknown"
	Reason:   "BadFormat",  // want `reason "BadFormat" is not in snake_case`
	Kind:     kind.Unknown, // want `kind.Unknown says nothing to the caller`
	When:     "Something is odd.",
	Recovery: "Try again.", // want `recovery "Try again." is too short to help`
})

var Typo = articles.Declare(contract.Mode{ // want Typo:"typo not_fuond"
	Reason:   "typo",
	Kind:     "not_fuond", // want `"not_fuond" is none of the constants of package kind`
	When:     "Something is odd.",
	Recovery: "Check the name of the kind once more.",
})

var positional = articles.Declare(contract.Mode{"positional", kind.Conflict, "Somebody was faster.", "Read it again.", true}) // want positional:"positional conflict" `recovery "Read it again." is too short`

// Another contract may use the same reason.
var books = contract.New("fetch_books")

var NoBook = books.Declare(contract.Mode{ // want NoBook:"no_match not_found"
	Reason:   "no_match",
	Kind:     kind.NotFound,
	When:     "No requested id returned a book.",
	Recovery: "Call search_books to find ids that exist.",
})

var empty = contract.New("empty") // want `contract empty declares no failure mode`

var mode = contract.Mode{Reason: "apart"}

var Apart = books.Declare(mode) // want `write the mode as a literal`

var _ = books.Declare(contract.Mode{ // want `nothing can fail with this mode`
	Reason: "unused", Kind: kind.Conflict, When: "Never.", Recovery: "Nothing can be done about it.",
})

var inInit contract.Reason // want inInit:"in_init conflict"

func init() {
	inInit = books.Declare(contract.Mode{ // at start-up as well
		Reason: "in_init", Kind: kind.Conflict, When: "Now and then.", Recovery: "Nothing can be done about it.",
	})
}

// Reasons in the fields of a struct are followed, those in a list or a map are only checked.
var kept = struct{ Gone, Typo contract.Reason }{ // want Gone:"gone not_found" Typo:"Typo not_found"
	Gone: books.Declare(contract.Mode{Reason: "gone", Kind: kind.NotFound, When: "Now and then.", Recovery: "Nothing can be done about it."}),
	Typo: books.Declare(contract.Mode{Reason: "Typo", Kind: kind.NotFound, When: "Now and then.", Recovery: "Nothing can be done about it."}), // want `reason "Typo" is not in snake_case`
}

func local() error {
	reason := books.Declare(contract.Mode{ // want `declare failure modes in package-level variables`
		Reason: "local", Kind: kind.Conflict, When: "Now and then.", Recovery: "Nothing can be done about it.",
	})
	books.Declare(contract.Mode{ // want `nothing can fail with this mode`
		Reason: "dropped", Kind: kind.Conflict, When: "Now and then.", Recovery: "Nothing can be done about it.",
	})
	return reason.Fail("")
}

var _ = []any{Said, kept, positional, empty, Nothing, Empty, Apart, local}
