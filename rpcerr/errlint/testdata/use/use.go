package use

import (
	"errors"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

type held struct {
	ID     string
	Events []chan int
}

type written struct {
	ID     string
	next   *written
	Events chan int `json:"-"`
}

const typo kind.Kind = "not_fuond"

func fail(n int, text string) error {
	switch n {
	case 0:
		return kind.NotFound.New("") // want `New refuses an empty text`
	case 1:
		return kind.NotFound.Newf(nil, " ") // want `Newf refuses an empty text`
	case 2:
		return kind.Upstream("m", 0) // want `0 is not an HTTP error status`
	case 3:
		return kind.Upstream("", 302) // want `Upstream refuses an empty text` `302 is not an HTTP error status`
	case 4:
		return kind.UpstreamRateLimit("m", 0) // want `0 is not a time to wait`
	case 5:
		return kind.NotFound.New("m").WithStatus(0).WithReason("") // want `0 is not an HTTP status` `WithReason refuses an empty text`
	case 6:
		return toolerr.New("", toolerr.CategoryAuth, "") // want `New refuses an empty text` `New refuses an empty text`
	case 7:
		return toolerr.Auth("").WithCode("") // want `Auth refuses an empty text` `WithCode refuses an empty text`
	case 8:
		return toolcode.NoMatch.New("") // want `New refuses an empty text`
	case 9:
		return typo.New("m") // want `"not_fuond" is none of the constants of package kind`
	case 10:
		return kind.ContextRequired.New("Which John?") // want `a context-required error needs a hint`
	case 11:
		return toolerr.New("X", "quota", "m") // want `"quota" is none of the categories`
	case 12:
		return toolerr.Newf("X", "quota", nil, "m %d", n) // want `"quota" is none of the categories`
	case 13:
		return toolcode.Code("no_mach").New("m") // want `"no_mach" is none of the codes of package toolcode`

	case 14:
		return kind.ContextRequired.New("Which John?").WithHint(" ") // want `a context-required error needs a hint`
	case 15:
		return errors.Join([]error{kind.ContextRequired.New("Which John?")}...) // want `a context-required error needs a hint`
	case 16:
		return errors.Join(nil, kind.ContextRequired.New("Which John?")) // want `a context-required error needs a hint`
	case 17:
		return kind.NotFound.New("m").WithData(make(chan int)) // want `a chan int cannot be encoded as JSON`
	case 18:
		return kind.NotFound.New("m").With("a", map[string]any{"f": func() {}}) // want `a func\(\) cannot be encoded as JSON`
	case 24:
		return rpcerr.InvalidParams(held{}) // want `a chan int cannot be encoded as JSON`
	case 25:
		return rpcerr.New(-31001, "m", []any{text, &written{next: nil}, time.Now(), map[int]string{}})

	case 19:
		return toolerr.New("X", "", "m")
	case 20:
		return kind.ContextRequired.New("Which John?").With("a", 1).WithHint("Ask for the family name.")
	case 21:
		return kind.NotFound.New(text)
	case 22:
		return kind.Upstream(text, n).WithStatus(n).WithHint("")
	case 23:
		return NoMatch.Fail("")
	}
	return kind.NotFound.New("m").WithCode("") // want `WithCode refuses an empty text`
}

var tool = contract.New("tool")

var NoMatch = tool.Declare(contract.Mode{
	Reason: "no_match", Kind: kind.NotFound, When: "Nothing matches.", Recovery: "Search for something else than this.",
})

var _ = contract.New("") // want `New refuses an empty text`

var _ = fail

func dropped(e *kind.Error, r *rpcerr.RequestError) error {
	e.WithHint("Ask the user.") // want `WithHint returns a copy, which nobody gets here`
	_ = r.WithDetail("d")       // want `WithDetail returns a copy, which nobody gets here`
	e = e.WithHint("Ask the user.")
	_ = e.WithRetryAfter(5)                // want `5 is a time of nanoseconds` `WithRetryAfter returns a copy`
	e = e.WithRetryAfter((30))             // want `30 is a time of nanoseconds: give it a unit, such as 30\*time.Second`
	_ = kind.UpstreamRateLimit("m", 2)     // want `2 is a time of nanoseconds`
	_ = toolerr.RateLimited("m", 30)       // want `30 is a time of nanoseconds`
	_ = toolerr.RateLimited("m", 30*unit)  // the unit is a constant of this package
	_ = toolerr.RateLimited("m", 0)        // no time at all
	e.RetryAfter = 7                       // want `7 is a time of nanoseconds`
	other := &kind.Error{RetryAfter: 9}    // want `9 is a time of nanoseconds`
	e.WithHint("It is meant here.")        //errlint:ignore the tests of this rule need one
	e.WithHint("No reason, so it is not.") /* want `WithHint returns a copy` */ //errlint:ignore
	return errors.Join(e, other)
}

const unit = time.Second
