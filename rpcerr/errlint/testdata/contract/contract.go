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
	Reason:   "no_match", // want `reason "no_match" is declared twice in this contract`
	Kind:     kind.Timeout,
	When:     "It took too long.",
	Recovery: "Ask for fewer articles and try again.",
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
	Kind:     kind.Unknown, // want `kind.Unknown tells the caller nothing`
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

func local() error {
	reason := books.Declare(contract.Mode{ // want `declare failure modes in package-level variables`
		Reason: "local", Kind: kind.Conflict, When: "Now and then.", Recovery: "Nothing can be done about it.",
	})
	books.Declare(contract.Mode{ // want `nothing can fail with this mode`
		Reason: "dropped", Kind: kind.Conflict, When: "Now and then.", Recovery: "Nothing can be done about it.",
	})
	return reason.Fail("")
}

var _ = []any{positional, empty, Nothing, Empty, Apart, local}
