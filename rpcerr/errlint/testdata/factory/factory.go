package factory

import (
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

var data = map[string]int{"a": 1}

var errs = []error{
	rpcerr.New(rpcerr.CodeInvalidParams, "Invalid params", data), // want `use rpcerr.InvalidParams in place of code -32602 by hand`
	rpcerr.New(-32000, "", nil),                                  // want `use rpcerr.AuthRequired in place of code -32000`
	rpcerr.New(-32602, "own words", data),                        // want `use rpcerr.InvalidParams`
	rpcerr.New(rpcerr.CodeResourceNotFound, "gone", nil),         // want `use rpcerr.ResourceNotFound or rpcerr.SessionNotFound`
	rpcerr.New(-32601, "", nil),                                  // want `use rpcerr.MethodNotFound`
	rpcerr.New(-32050, "mine", nil),                              // want `code -32050 is not assigned and lies in a reserved range`
	rpcerr.New(-32850, "mine", nil),                              // want `code -32850 is not assigned and lies in a reserved range`
	rpcerr.New(-31999, "mine", nil),
	&rpcerr.RequestError{Code: -32603, Message: "x"}, // want `use rpcerr.InternalError`
	&rpcerr.RequestError{Code: 500, Message: "x"},
	&kind.Error{Kind: kind.NotFound, Message: "x"}, // want `build it from the kind`
	kind.NotFound.New("x"),
	toolerr.New("NOT_FOUND", toolerr.CategoryNotFound, "x"), // want `use toolerr.NotFound for code NOT_FOUND`
	toolerr.New("NOT_FOUND", toolerr.CategoryAuth, "x"),
	toolerr.New("TIMEOUT", toolerr.CategoryTimeout, "x"),                  // want `this is not retryable, and failures of category timeout are usually temporary`
	toolerr.New("RATE_LIMITED", toolerr.CategoryRateLimit, "x"),           // want `use toolerr.RateLimited and WithCode`
	toolerr.Newf("QUEUE_FULL", toolerr.CategoryRateLimit, nil, "x %d", 1), // want `or add WithRetryAfter or WithRetryable`
	toolerr.New("RATE_LIMITED", toolerr.CategoryRateLimit, "x").WithRetryAfter(1),
	toolerr.New("TIMEOUT", toolerr.CategoryTimeout, "x").WithCause(nil).WithRetryable(false),
	toolerr.New("X", toolerr.CategoryTimeout, "x").WithNoDelay(),
	toolerr.New("USER_NOT_FOUND", toolerr.CategoryNotFound, "x"),
	&toolerr.Error{Code: "X"}, // want `build it from the kind`
}

var numbered = kind.Conflict.New("mine").WithNumber(-32001) // want `code -32001 is not assigned and lies in a reserved range`

func code(c rpcerr.Code) error { return rpcerr.New(c, "passed on", nil) }

var _ = []any{errs, numbered, code, &kind.Error{}}
