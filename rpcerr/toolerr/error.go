package toolerr

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Category sorts failures of tools by what a model can do about them.
type Category string

// The categories. An Error may have none.
const (
	CategoryAuth       Category = "auth"       // log in, or get permission
	CategoryRateLimit  Category = "rate_limit" // wait
	CategoryNotFound   Category = "not_found"  // ask for something that exists
	CategoryValidation Category = "validation" // correct the input
	CategoryInternal   Category = "internal"   // give up: a bug
	CategoryTimeout    Category = "timeout"    // try again
)

// Error is the failure of a tool. All fields but the cause reach the peer. The factories
// set Code, Category and Retryable consistently.
//
// The methods that begin with With return copies; a nil receiver is accepted
// everywhere.
type Error struct {
	// Code is the code that programs compare, such as "CHANNEL_NOT_FOUND". Required.
	Code string
	// Category is the kind of failure; "" for none.
	Category Category
	// Message is for people and models. Required.
	Message string
	// Retryable reports whether the same call may succeed later.
	Retryable bool
	// RetryAfter is how long to wait first, in whole milliseconds; 0 means unknown.
	RetryAfter time.Duration
	// NoDelay reports whether the call may be repeated at once: a RetryAfter of zero is known.
	// It has no meaning if RetryAfter is positive.
	NoDelay bool

	// Reason, Hint, Status and Data are as in [kind.Error]. [Error.Text] does not contain
	// them.
	Reason string
	Hint   string
	Status int
	Data   json.RawMessage

	// kind and number are set only when they say more than Category does.
	kind    kind.Kind
	number  rpcerr.Code
	cause   error
	derived bool // as in kind.Error
	// refused is set when this stands in for an error that could not be built.
	refused *kind.Error
}

// New returns an error with a code of the caller's own. Code and message may not be empty and the
// category must be one of the constants or ""; otherwise the result is an internal
// error that wraps [kind.ErrBadUse].
func New(code string, category Category, message string) *Error {
	switch {
	case strings.TrimSpace(code) == "":
		return badUse("toolerr.New", "empty code")
	case strings.TrimSpace(message) == "":
		return badUse("toolerr.New", "empty message")
	case category != "" && kindOf[category] == "":
		return badUse("toolerr.New", "unknown category "+string(category))
	}
	return &Error{Code: clean(code), Category: category, Message: clean(message)}
}

// Errorf is [New] with a formatted message. An operand of %w becomes the cause, whose
// text the peer does not see; see [kind.Kind.Errorf].
//
//	toolerr.Errorf("CHANNEL_NOT_FOUND", toolerr.CategoryNotFound, "no channel %q: %w", name, err)
func Errorf(code string, category Category, format string, args ...any) *Error {
	if false { // makes go vet check format and args
		_ = fmt.Errorf(format, args...)
	}
	k := kindOf[category]
	if k == "" {
		k = kind.Unknown
	}
	r := k.Errorf(format, args...)
	message := r.Message
	if r.Mistake() != nil {
		message = ""
	}
	e := New(code, category, message)
	if cause := r.Unwrap(); cause != nil && message != "" {
		e = e.WithCause(cause)
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
	return New("TIMEOUT", CategoryTimeout, message).WithRetryAfter(0)
}

// Internal returns the error for a bug of the tool: INTERNAL_ERROR, not retryable.
func Internal(message string) *Error { return New("INTERNAL_ERROR", CategoryInternal, message) }

func badUse(function, problem string) *Error {
	r := kind.BadUse(function, problem)
	return &Error{Code: "INTERNAL_ERROR", Category: CategoryInternal, Message: r.Message, refused: r}
}

func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// refuse returns what stands in for a change that cannot be made to e.
func (e *Error) refuse(function, problem string) *Error {
	if e == nil {
		return badUse(function, problem)
	}
	if e.refused != nil {
		return e
	}
	return badUse(function, problem).WithCause(e)
}

// edit returns a copy with a change. What stands in for an error that could not be built
// stays as it is.
func (e *Error) edit(change func(*Error)) *Error {
	if e == nil {
		return badUse("toolerr", "With on a nil *Error")
	}
	c := *e
	if c.refused == nil {
		change(&c)
	}
	return &c
}

// WithCode returns a copy with a code of its own, such as "USER_NOT_FOUND". An empty
// one is bad use.
func (e *Error) WithCode(code string) *Error {
	if strings.TrimSpace(code) == "" {
		return e.refuse("toolerr.WithCode", "empty code")
	}
	return e.edit(func(c *Error) { c.Code = clean(code) })
}

// WithRetryAfter returns a copy that may be retried after d, rounded up to whole
// milliseconds. Zero or less means only that it may be retried.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	return e.edit(func(c *Error) {
		c.Retryable, c.RetryAfter, c.NoDelay = true, wholeMillis(d), false
	})
}

// WithNoDelay returns a copy that may be retried at once.
func (e *Error) WithNoDelay() *Error {
	return e.edit(func(c *Error) { c.Retryable, c.RetryAfter, c.NoDelay = true, 0, true })
}

// WithRetryable returns a copy that is retryable or not. False also removes RetryAfter and
// NoDelay.
func (e *Error) WithRetryable(yes bool) *Error {
	return e.edit(func(c *Error) {
		if c.Retryable = yes; !yes {
			c.RetryAfter, c.NoDelay = 0, false
		}
	})
}

// wholeMillis rounds as the record does.
func wholeMillis(d time.Duration) time.Duration { return (&kind.Error{}).WithRetryAfter(d).RetryAfter }

// WithHint returns a copy with the hint.
func (e *Error) WithHint(hint string) *Error {
	return e.edit(func(c *Error) { c.Hint = clean(hint) })
}

// WithData returns a copy that carries v, written by encoding/json.
func (e *Error) WithData(v any) *Error {
	r := (&kind.Error{}).WithData(v)
	if use, bad := errors.AsType[*kind.UseError](r); bad {
		return e.refuse("toolerr.WithData", use.Problem)
	}
	return e.edit(func(c *Error) { c.Data = r.Data })
}

// WithCause returns a copy that wraps cause. The cause stays in the process.
func (e *Error) WithCause(cause error) *Error {
	c := e.edit(func(c *Error) { c.cause = cause })
	if c.refused != nil {
		c.refused = c.refused.WithCause(cause)
	}
	return c
}

// Error returns the message.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	switch {
	case e == nil:
		return nil
	case e.refused != nil:
		return e.refused.Unwrap()
	}
	return e.cause
}

// Is makes errors.Is work with kinds and with the sentinels of package rpcerr.
func (e *Error) Is(target error) bool { return e != nil && e.Record().Is(target) }

// As makes errors.As find the record, a *kind.Error, and the wire form, a
// *rpcerr.RequestError.
func (e *Error) As(target any) bool {
	record := e.Record()
	if r, ok := target.(**kind.Error); ok && record != nil {
		*r = record
		return true
	}
	return record.As(target)
}

// LogValue returns everything except Data.
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.Value{}
	}
	return e.Record().LogValue()
}
