// Package toolerr describes the failures of tools for models: a code, one of six
// categories, and whether and when to try again.
//
//	return toolerr.NotFound(`Channel "general" does not exist`).WithCode("CHANNEL_NOT_FOUND")
//
// The functions build a [kind.Error] with a Code, so it is sent, read and logged like every
// other failure, and has the same methods. Its method Text writes the form that goes to a
// model as text; a tool call that ends with the error shows it, and [Parse] reads it.
// [CategoryOf] returns the category of any error that carries a kind.
package toolerr

import (
	"time"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Error is the failure of a tool: the record that all packages below rpcerr share.
type Error = kind.Error

// Category sorts failures of tools by what a model can do about them.
type Category string

// The categories. An error of kind Unknown has none.
const (
	CategoryAuth       Category = "auth"       // log in, or get permission
	CategoryRateLimit  Category = "rate_limit" // wait
	CategoryNotFound   Category = "not_found"  // ask for something that exists
	CategoryValidation Category = "validation" // correct the input
	CategoryInternal   Category = "internal"   // give up: a bug
	CategoryTimeout    Category = "timeout"    // try again
)

// kinds are the kinds of the categories. Other kinds share a category with one of them.
var kinds = map[Category]kind.Kind{
	CategoryAuth:       kind.Unauthorized,
	CategoryRateLimit:  kind.RateLimited,
	CategoryNotFound:   kind.NotFound,
	CategoryValidation: kind.Validation,
	CategoryInternal:   kind.Internal,
	CategoryTimeout:    kind.Timeout,
	"":                 kind.Unknown,
}

// CategoryOf returns the category of the kind that err carries, on either end of a
// connection. It returns "" for kind.Unknown and for an error that carries no kind.
func CategoryOf(err error) Category { return Category(inside.Category(string(kind.Of(err)))) }

// New returns an error with a code of the caller's own, which is not retryable. Code and
// message may not be empty and the category must be one of the constants or ""; otherwise
// the result is an internal error that wraps [kind.ErrBadUse].
func New(code string, category Category, message string) *Error {
	return build(code, category, func(k kind.Kind) *Error { return k.New(message) })
}

// Errorf is [New] with a formatted message. An operand of %w becomes the cause, whose
// text the peer does not see; see [kind.Kind.Errorf].
//
//	toolerr.Errorf("CHANNEL_NOT_FOUND", toolerr.CategoryNotFound, "no channel %q: %w", name, err)
func Errorf(code string, category Category, format string, args ...any) *Error {
	return build(code, category, func(k kind.Kind) *Error { return k.Errorf(format, args...) })
}

func build(code string, category Category, with func(kind.Kind) *Error) *Error {
	k, ok := kinds[category]
	if !ok {
		return new(Error).WithCause(&inside.Misuse{Func: "toolerr.New", Problem: "unknown category " + string(category)})
	}
	e := with(k).WithCode(code).WithRetryable(false)
	if k == kind.Unauthorized {
		e = e.WithNumber(kind.CodeUnauthorized)
	}
	return e
}

// Auth returns the error for a failed login or a missing permission at a service that the
// tool uses: AUTH_ERROR, not retryable. It does not ask the user to log in to this agent:
// return rpcerr.AuthRequired for that.
func Auth(message string) *Error { return New("AUTH_ERROR", CategoryAuth, message) }

// NotFound returns the error for something that does not exist: NOT_FOUND, not retryable.
func NotFound(message string) *Error { return New("NOT_FOUND", CategoryNotFound, message) }

// RateLimited returns the error for a limit of another service: RATE_LIMITED, retryable.
// after is how long to wait; 0 means unknown.
func RateLimited(message string, after time.Duration) *Error {
	return New("RATE_LIMITED", CategoryRateLimit, message).WithRetryAfter(after)
}

// Validation returns the error for input that the model must correct: VALIDATION_ERROR,
// not retryable.
func Validation(message string) *Error { return New("VALIDATION_ERROR", CategoryValidation, message) }

// Timeout returns the error for an operation that took too long: TIMEOUT, retryable.
func Timeout(message string) *Error {
	return New("TIMEOUT", CategoryTimeout, message).WithRetryable(true)
}

// Internal returns the error for a bug of the tool: INTERNAL_ERROR, not retryable.
func Internal(message string) *Error { return New("INTERNAL_ERROR", CategoryInternal, message) }
