// Package contract declares the failure modes of a tool in one place. Experimental: it may change in
// any release. The tool fails with the handle of a declared mode.
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
//	return nil, NoMatch.Failf(nil, "None of the %d ids returned an article", len(ids))
//
// The reason is sent as data.reason, where clients compare it. The analyzers of module
// rpcerr/errlint find weak declarations without running the program.
//
// Code below the tool does not know the contract. It sets the reason with WithReason of
// package kind, and [Hint] returns the recovery that the tool declares for it. Declare each
// tool's contract beside the tool, even if two contracts look alike.
//
// A contract cannot be listed: no function returns its modes, and nothing sends them to a peer or
// writes documentation from them. A model that is to know them reads them in the description of the
// tool. WithReason on an error of a handle replaces the declared reason, and nothing compares the new
// one with the contract.
package contract

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Mode is the declaration of one way in which a tool fails.
type Mode struct {
	// Reason is the stable name that clients compare, in snake_case. Required, and
	// unique within the contract.
	Reason string
	// Kind is the kind of the failure, which determines its code. Required.
	Kind kind.Kind
	// When describes when it happens, for documentation. Required.
	When string
	// Recovery is what the caller should do next. Required; a model reads it, so "Try again."
	// is not enough.
	Recovery string
	// Retryable reports whether the same call may succeed later.
	Retryable bool
}

// Contract is the list of the failure modes of a tool. It is built from package-level
// variables while the program starts, and is safe for concurrent use after that.
type Contract struct {
	tool  string
	modes []Mode
}

// New returns an empty contract for the tool of that name, for a package-level variable. It
// panics without a name.
func New(tool string) *Contract {
	if strings.TrimSpace(tool) == "" {
		panic("contract.New: a contract needs the name of its tool")
	}
	return &Contract{tool: tool}
}

var snake = regexp.MustCompile(`^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$`)

// Declare adds a failure mode and returns the handle by which the tool fails with it. Keep the
// handle in a package-level variable: a misspelt variable does not compile. Declare panics if
// a required field is missing, or if the reason is taken or not in snake_case.
func (c *Contract) Declare(m Mode) Reason {
	if problem := c.problem(m); problem != "" {
		panic(fmt.Sprintf("contract %s: reason %q: %s", c.tool, m.Reason, problem))
	}
	c.modes = append(c.modes, m)
	return Reason{c, len(c.modes) - 1}
}

func (c *Contract) problem(m Mode) string {
	switch {
	case m.Reason == "":
		return "Reason is empty"
	case !snake.MatchString(m.Reason):
		return "Reason is not in snake_case"
	case slices.ContainsFunc(c.modes, func(o Mode) bool { return o.Reason == m.Reason }):
		return "is declared twice"
	case m.Kind == "":
		return "Kind is missing"
	case !m.Kind.Known():
		return fmt.Sprintf("Kind %q is none of the constants of package kind", string(m.Kind))
	case strings.TrimSpace(m.When) == "":
		return "When is empty"
	case strings.TrimSpace(m.Recovery) == "":
		return "Recovery is empty"
	}
	return ""
}

type contextKey struct{}

// NewContext returns a ctx that carries the contract of the running tool, for [Hint].
func NewContext(ctx context.Context, c *Contract) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Hint returns the recovery that the running tool declares under the reason, and "" if there
// is none, so that code below a tool need not know which tool it is:
//
//	kind.Validation.New("The formula does not parse.").WithReason("parse_failed").WithHint(contract.Hint(ctx, "parse_failed"))
func Hint(ctx context.Context, reason string) string {
	c, ok := ctx.Value(contextKey{}).(*Contract)
	if !ok || c == nil {
		return ""
	}
	i := slices.IndexFunc(c.modes, func(m Mode) bool { return m.Reason == reason })
	if i < 0 {
		return ""
	}
	return c.modes[i].Recovery
}

// Reason is the handle of a declared failure mode. Failing with the zero value is bad use.
type Reason struct {
	contract *Contract
	index    int
}

func (r Reason) mode() Mode {
	if r.contract == nil {
		return Mode{}
	}
	return r.contract.modes[r.index]
}

// String returns the reason's name.
func (r Reason) String() string { return r.mode().Reason }

// Matches reports whether err carries this reason, on either end of a connection.
func (r Reason) Matches(err error) bool {
	e, ok := kind.From(err)
	return ok && e.Reason != "" && e.Reason == r.String()
}

// Recovery returns the declared recovery, for the hint of an error:
//
//	return NoMatch.Failf(nil, "no article has the id %d", id).WithHint(NoMatch.Recovery())
func (r Reason) Recovery() string { return r.mode().Recovery }

// Fail returns the error of this failure mode. Kind, code, reason and retryable are those of
// the declaration; an empty message is replaced by When. The recovery is added only by
// WithHint.
func (r Reason) Fail(message string) *kind.Error {
	if strings.TrimSpace(message) == "" {
		message = r.mode().When
	}
	return r.declared(func(k kind.Kind) *kind.Error { return k.New(message) })
}

// Failf is Fail with a formatted message and a cause, as [kind.Kind.Newf] takes them.
func (r Reason) Failf(cause error, format string, args ...any) *kind.Error {
	return r.declared(func(k kind.Kind) *kind.Error { return k.Newf(cause, format, args...) })
}

func (r Reason) declared(build func(kind.Kind) *kind.Error) *kind.Error {
	m := r.mode()
	if m.Reason == "" {
		return new(kind.Error).WithCause(&errs.Misuse{Func: "contract.Fail", Problem: "a Reason that was not declared"})
	}
	return build(m.Kind).WithReason(m.Reason).WithRetryable(m.Retryable)
}
