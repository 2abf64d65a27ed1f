// Package toolerr describes the failures of tools for models: a code, one of six categories, and
// whether and when to try again. Experimental: it may change in any release.
//
//	return toolerr.NotFound(`Channel "general" does not exist`).WithCode("CHANNEL_NOT_FOUND")
//
// The functions build a [kind.Error] with a Code. Its method Text writes the form that goes to
// a model; a tool call that ends with the error shows it, and [Parse] reads it. Of an error that has a
// Reason and no Code, as those of packages contract and toolcode, a tool call shows the message; the
// model of an agent on package agent/tools reads the object of package toolcode, with the reason.
package toolerr

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/errs"
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
func CategoryOf(err error) Category { return Category(errs.Category(string(kind.Of(err)))) }

// New returns an error with a code of the caller's own, which is not retryable. An empty code,
// an empty message and an unknown category other than "" are bad use; see [kind.ErrBadUse].
func New(code string, category Category, message string) *Error {
	return build(code, category, func(k kind.Kind) *Error { return k.New(message) })
}

// Newf is [New] with a formatted message and a cause, as [kind.Kind.Newf] takes them.
func Newf(code string, category Category, cause error, format string, args ...any) *Error {
	return build(code, category, func(k kind.Kind) *Error { return k.Newf(cause, format, args...) })
}

func build(code string, category Category, with func(kind.Kind) *Error) *Error {
	k, ok := kinds[category]
	if !ok {
		return new(Error).WithCause(&errs.Misuse{Func: "toolerr.New", Problem: "unknown category " + string(category)})
	}
	e := with(k).WithCode(code).WithRetryable(false)
	if k == kind.Unauthorized {
		e = e.WithNumber(kind.CodeUnauthorized)
	}
	return e
}

// Auth returns the error for a failed login or a missing permission at a service that the
// tool uses: AUTH_ERROR, not retryable. rpcerr.AuthRequired asks for a login to this agent.
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

// Parse reads a text that the method Text of an error, or another program that uses the format,
// wrote. White space around it is ignored. The kind follows from the category. It is Unknown if
// the category is not one of the six. Bytes that are not UTF-8 are decoded as U+FFFD.
func Parse(text string) (*Error, error) {
	text = strings.ToValidUTF8(strings.Trim(text, " \t\r\n"), "\uFFFD")
	e, err := parse(text)
	if err != nil && strings.Contains(text, "\r\n") { // the line ends of another system
		if e, err2 := parse(strings.ReplaceAll(text, "\r\n", "\n")); err2 == nil {
			return e, nil
		}
	}
	return e, err
}

func parse(text string) (*Error, error) {
	body, ok := strings.CutSuffix(text, errs.FenceClose)
	at := strings.LastIndex(body, errs.FenceOpen)
	if !ok || at < 0 {
		return nil, notText("it does not end with JSON in a fence")
	}
	var b struct {
		errs.ToolText
		Code         *string  `json:"code"`
		RetryAfterMs *float64 `json:"retryAfterMs"`
	}
	if err := json.Unmarshal([]byte(body[at+len(errs.FenceOpen):]), &b); err != nil {
		return nil, notText("reading the JSON: " + err.Error())
	}
	if b.Code == nil {
		return nil, notText("the JSON has no code")
	}
	k, ok := kinds[Category(b.Category)]
	if !ok {
		k = kind.Unknown
	}
	e := &Error{Kind: k, Code: *b.Code, Retryable: b.Retryable}
	if k == kind.Unauthorized {
		e.Number = kind.CodeUnauthorized
	}
	b.ToolText.Code = e.Code
	if b.RetryAfterMs != nil {
		ms := math.Ceil(*b.RetryAfterMs)
		if ms < 0 || ms > float64(math.MaxInt64/time.Millisecond) {
			return nil, notText("retryAfterMs is out of range")
		}
		e.RetryAfter, e.NoDelay = time.Duration(ms)*time.Millisecond, ms == 0
		b.ToolText.RetryAfterMs = new(int64(ms))
	}
	// The JSON determines the line before the message, so that a message may hold anything.
	if e.Message, ok = strings.CutPrefix(body[:at], b.Header()); !ok {
		return nil, notText("the first line does not agree with the JSON")
	}
	return e, nil
}

func notText(problem string) error {
	return errors.New("toolerr: not the text of a tool error: " + problem)
}
