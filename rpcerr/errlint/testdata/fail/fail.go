package fail

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

var articles = contract.New("fetch_articles")

var NoMatch = articles.Declare(contract.Mode{
	Reason: "no_match", Kind: kind.NotFound,
	When: "No requested id returned an article.", Recovery: "Call search_articles to find ids that exist.",
})

var Slow = articles.Declare(contract.Mode{
	Reason: "slow", Kind: kind.RateLimited, Retryable: true,
	When: "The queue is full.", Recovery: "Wait 30 seconds and ask for fewer.",
})

var Slower = articles.Declare(contract.Mode{
	Reason: "slower", Kind: kind.RateLimited, Retryable: true,
	When: "The queue is fuller.", Recovery: "Wait 60 seconds and ask for fewer.",
})

func fetch(ctx context.Context, n int) error {
	ctx = contract.NewContext(ctx, articles)
	switch n {
	case 0:
		return NoMatch.Fail("nothing")
	case 1:
		return kind.NotFound.New("nothing") // want `kind not_found is declared by contract articles: use NoMatch.Fail`
	case 2:
		return kind.NotFound.Newf(nil, "nothing in %d", n).WithHint("x") // want `use NoMatch.Fail, so that clients find the reason`
	case 3:
		return kind.NotFound.Newf(nil, "nothing in %d", n) // want `use NoMatch.Fail`
	case 4:
		return rpcerr.ResourceNotFound("a") // want `use NoMatch.Fail`
	case 5:
		return kind.RateLimited.New("slow") // want `use Slow.Fail or Slower.Fail`
	case 6:
		return kind.Conflict.New("taken") // want `this fails with kind conflict, which contract articles does not declare`
	case 7:
		return rpcerr.AuthRequired(nil) // want `kind unauthorized, which contract articles does not declare`
	case 8:
		return toolerr.NotFound("nothing") // want `use NoMatch.Fail`
	case 9:
		return kind.Fatal.New("broken") // want `kind fatal, which contract articles does not declare`
	case 10:
		return toolcode.PathEscape.New("outside") // want `kind forbidden, which contract articles does not declare`
	case 11:
		return rpcerr.New(-32002, "gone", nil) // want `use NoMatch.Fail`

	// What can happen anywhere needs no declaration, and what is not known is
	// not complained about.
	case 12:
		return kind.Internal.New("bug")
	case 13:
		return kind.Timeout.New("slow")
	case 14:
		return kind.Validation.New("bad input")
	case 15:
		return kind.Serialization.New("bad data")
	case 16:
		return kind.ServiceUnavailable.New("down")
	case 17:
		return kind.Upstream("down", n)
	case 18:
		return kind.Kind(ctx.Err().Error()).New("x")
	}
	e := kind.NotFound.New("nothing") // want `use NoMatch.Fail`
	return e
}

var books = contract.New("fetch_books")

var NoBook = books.Declare(contract.Mode{
	Reason: "no_book", Kind: kind.NotFound, When: "No such book.", Recovery: "Call search_books to find ids that exist.",
})

// Functions with a contract of their own are judged by that, wherever they stand.
var tools = map[string]func(int) error{
	"articles": func(n int) error {
		if n == 0 {
			return NoMatch.Fail("")
		}
		return kind.NotFound.New("nothing") // want `use NoMatch.Fail`
	},
	"free": func(int) error { return kind.Conflict.New("taken") },
}

func register(add func(func(int) error)) error {
	add(func(n int) error {
		if n == 0 {
			return NoBook.Fail("")
		}
		defer func() { _ = kind.Forbidden.New("inside") }() // want `kind forbidden, which contract books does not declare`
		return kind.NotFound.New("nothing")                 // want `kind not_found is declared by contract books: use NoBook.Fail`
	})
	add(tools["articles"])
	return kind.Conflict.New("taken")
}

// What returns a pointer cannot be given the declared error.
func pointer(n int) *kind.Error {
	if n == 0 {
		_ = NoMatch.Fail("")
	}
	return kind.NotFound.New("nothing") // want `use NoMatch.Fail`
}

// The name means something else here.
func shadowed(n int) error {
	_ = NoMatch.Fail("")
	NoMatch := n
	_ = NoMatch
	return kind.NotFound.New("nothing") // want `use NoMatch.Fail`
}

// A caller of the tool is not the tool.
func caller() error {
	err := fetch(context.Background(), 1)
	if NoMatch.Matches(err) {
		return kind.Conflict.Newf(err, "nothing to do")
	}
	if NoMatch.String() != "" {
		return kind.Forbidden.New("nothing")
	}
	return kind.NotFound.New("nothing")
}

// A status that is known decides like a kind.
func upstream(ctx context.Context, n int) error {
	_ = contract.NewContext(ctx, articles)
	switch n {
	case 0:
		return kind.Upstream("gone", 404) // want `use NoMatch.Fail`
	case 1:
		return kind.Upstream("taken", 409) // want `kind conflict, which contract articles does not declare`
	case 2:
		return toolerr.New("TAKEN", toolerr.CategoryAuth, "taken") // want `kind unauthorized, which contract articles does not declare`
	}
	return kind.Upstream("down", n)
}

var limits = contract.New("limits")

// Busy is not retryable, and kind.RateLimited is.
var Busy = limits.Declare(contract.Mode{
	Reason: "busy", Kind: kind.RateLimited, Retryable: false, When: "The day's calls are used up.", Recovery: "Come back on the next day.",
})

func limited() error {
	_ = Busy.Fail("")
	return kind.RateLimited.New("busy") // want `use Busy.Fail`
}

var shop = contract.New("shop")

var Shop = struct{ Sold, Gone contract.Reason }{
	Sold: shop.Declare(contract.Mode{
		Reason: "sold", Kind: kind.Conflict, When: "Someone else was quicker.", Recovery: "Choose another one from the list.",
	}),
	Gone: shop.Declare(contract.Mode{
		Reason: "gone", Kind: kind.NotFound, When: "It is no longer sold.", Recovery: "Choose another one from the list.",
	}),
}

func buy(n int) error {
	switch n {
	case 0:
		return Shop.Sold.Fail("")
	case 1:
		return kind.Conflict.New("sold") // want `kind conflict is declared by contract shop: use Sold.Fail`
	}
	return kind.Fatal.New("closed") // want `kind fatal, which contract shop does not declare`
}

// A function without a contract may fail as it likes.
func free() error {
	if errors.Is(nil, nil) {
		return kind.NotFound.New("nothing")
	}
	return kind.Conflict.New("taken")
}

var _ = []any{pointer, shadowed, caller, upstream, limited, buy, fetch, free, tools, register}
