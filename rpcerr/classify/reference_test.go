package classify_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var quiet = log.New(io.Discard, "", 0)

// The reference's table of services, row by row.
func TestServicePatterns(t *testing.T) {
	for text, want := range map[string]kind.Kind{
		"ThrottlingException: rate exceeded":         kind.RateLimited,
		"TooManyRequestsException":                   kind.RateLimited,
		"AccessDenied":                               kind.Forbidden,
		"UnauthorizedOperation: you are not allowed": kind.Forbidden,
		"ResourceNotFoundException":                  kind.NotFound,
		"status code 401":                            kind.Unauthorized,
		"status code 403":                            kind.Forbidden,
		"status code 404":                            kind.NotFound,
		"status code 409":                            kind.Conflict,
		"status code 429":                            kind.RateLimited,
		"status code 500":                            kind.ServiceUnavailable,
		"status code 503":                            kind.ServiceUnavailable,
		"connect ECONNREFUSED 127.0.0.1:80":          kind.ServiceUnavailable,
		"dial: connection refused":                   kind.ServiceUnavailable,
		"ETIMEDOUT":                                  kind.Timeout,
		"connection timeout":                         kind.Timeout,
		"violates unique constraint \"x\"":           kind.Conflict,
		"duplicate key value":                        kind.Conflict,
		"violates foreign key constraint":            kind.Validation,
		"JWT expired":                                kind.Unauthorized,
		"new row violates row level security policy": kind.Forbidden,
		"insufficient_quota":                         kind.RateLimited,
		"quota exceeded for project":                 kind.RateLimited,
		"model_not_found":                            kind.NotFound,
		"context_length_exceeded":                    kind.Validation,
		"getaddrinfo ENOTFOUND host":                 kind.ServiceUnavailable,
		"DNS lookup failed":                          kind.ServiceUnavailable,
		"read ECONNRESET":                            kind.ServiceUnavailable,
		"connection reset by peer":                   kind.ServiceUnavailable,

		// The same in the words of Go programs.
		"unexpected status: 401 Unauthorized": kind.Unauthorized,
		"HTTP 429":                            kind.RateLimited,
		"https response error StatusCode: 403, RequestID: 1": kind.Forbidden,
		`{"status":404}`:                         kind.NotFound,
		"status 4040":                            kind.Internal,
		"rpc error: code = NotFound desc = no":   kind.NotFound,
		"rpc error: code = Unavailable desc = x": kind.ServiceUnavailable,
		"rpc error: code = ResourceExhausted":    kind.RateLimited,
		"rpc error: code = Odd desc = invalid":   kind.Validation,
		"status code 429 beats the words: the rate limit of a token not found": kind.RateLimited,
	} {
		assert.Equal(t, want, kind.Of(classify.Error(errors.New(text))), text)
	}
}

// The reference's table of everyday words, each alternative of each row.
func TestWordPatterns(t *testing.T) {
	for want, texts := range map[kind.Kind][]string{
		kind.Unauthorized: {"Unauthorized", "unauthenticated", "not authorized", "you are not yet logged in", "invalid token", "invalid_token", "expired-token"},
		kind.Forbidden:    {"permission missing", "forbidden", "access was denied", "that is not really allowed"},
		kind.NotFound:     {"user not found", "no such thing", "it doesn't exist", "couldn't find it", "does not exist", "could not find"},
		kind.Validation: {"invalid", "validation of x", "malformed", "bad request", "wrong format", "missing required x", "missing param",
			"missing field", "missing input", "missing value", "missing arg", "schema validation"},
		kind.Conflict:           {"conflict", "already exists", "duplicate"},
		kind.RateLimited:        {"rate limit", "Too Many Requests", "throttled"},
		kind.Timeout:            {"timeout", "timed out", "deadline exceeded", "time-out"},
		kind.Cancelled:          {"abort", "aborted", "canceled", "cancelled"},
		kind.ServiceUnavailable: {"service unavailable", "bad gateway", "upstream error"},
		kind.Internal:           {"boom", ""},
	} {
		for _, text := range texts {
			assert.Equal(t, want, kind.Of(classify.Error(fmt.Errorf("%s", text))), text)
		}
	}
	// Order matters: the first row that fits wins.
	assert.Equal(t, kind.Unauthorized, kind.Of(classify.Error(errors.New("forbidden: invalid token"))))
	assert.Equal(t, kind.Timeout, kind.Of(classify.Error(errors.New("gateway timeout"))), "as in the reference: the row of timeouts stands above")
}

// Types and codes of clients for web services imply the same kinds.
type ThrottlingException struct{}

func (*ThrottlingException) Error() string { return "slow down" }

type codeError string

func (codeError) Error() string       { return "failed" }
func (e codeError) ErrorCode() string { return string(e) }

func TestNames(t *testing.T) {
	assert.Equal(t, kind.RateLimited, kind.Of(classify.Error(fmt.Errorf("calling: %w", &ThrottlingException{}))))
	assert.Equal(t, kind.NotFound, kind.Of(classify.Error(codeError("ResourceNotFoundException"))))
}

// Rows of the reference that have no test above, and why.
//
//	row                                   reason
//	SyntaxError -> ValidationError        Go has no error of that name. A pattern that does not compile (regexp/syntax) is
//	                                      validation; broken JSON, XML or CSV is serialization, the kind made for it.
//	RangeError -> ValidationError         strconv.ErrRange is validation; an index out of range is a runtime.Error, a bug.
//	URIError -> ValidationError           *url.Error of Op "parse", url.EscapeError, url.InvalidHostError.
//	ZodError, "zod|zoderror"              zod is a JavaScript library; errors of go-playground/validator take its place.
//	TypeError                             what raises it in JavaScript does not compile in Go, or is a runtime.Error.
//	ReferenceError, EvalError             cannot happen in a compiled language.
//	AggregateError -> InternalError       errors.Join is looked through: the first error that is known decides.
//	AbortError, "abort|cancel" -> Timeout context.Canceled is cancelled: ACP has a code of its own for it.
//	"gateway timeout" in the last row     cannot be reached, there as here: "timeout" stands above.
//	"unique constraint" in the words      cannot be reached, there as here: the table of services has it.
//	error.name                            the names of the types in the chain.
func TestRowsWithoutCounterpart(t *testing.T) {
	joined := errors.Join(errors.New("boom"), kind.NotFound.New("m"))
	assert.Equal(t, kind.NotFound, kind.Of(classify.Error(joined)))
}
