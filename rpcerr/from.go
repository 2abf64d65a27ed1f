package rpcerr

import (
	"context"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
)

// From returns the error that goes to the peer for err. The first rule that fits wins:
//
//   - nil becomes nil;
//   - a *jsonrpc2.Error of github.com/sourcegraph/jsonrpc2 becomes the same error; one that is
//     wrapped is an error like any other, because another peer may have sent it;
//   - the first error in the chain that has a method RequestError() *RequestError
//     becomes what that method returns, unless it returns nil;
//   - context.Canceled becomes -32800; a connection sends this only if the peer has
//     cancelled the request, and else -32603, because some other ctx ended;
//   - everything else, context.DeadlineExceeded included, becomes -32603 "Internal error".
//
// The result wraps err, which is never encoded.
func From(err error) *RequestError {
	if err == nil {
		return nil
	}
	if e, ok := err.(*jsonrpc2.Error); ok {
		return fromWire(e)
	}
	r, own := find(err)
	switch {
	case r == nil && inside.Is(err, context.Canceled):
		return RequestCancelled(nil).WithCause(err)
	case r == nil:
		return InternalError(nil).WithCause(err)
	case own == error(r):
		return r
	}
	return r.WithCause(inside.Both(err, r.cause)) // err has what was wrapped around own
}

// CodeOf returns the code of the first error in the chain of err that is a *RequestError
// or has a method RequestError. It reports false for every other error, including the
// error of a ctx and that of a connection that has ended, because no peer sent those.
func CodeOf(err error) (Code, bool) {
	if r, _ := find(err); r != nil {
		return r.Code, true
	}
	return 0, false
}

// find returns the first error in the chain, in the order of errors.As, that builds
// an error of the protocol, and what it builds.
func find(err error) (r *RequestError, own error) {
	return inside.Explicit[RequestError](err, func(error) bool { return false })
}

// RequestError returns e, so that [From] finds the outermost RequestError of a chain.
func (e *RequestError) RequestError() *RequestError { return e }

// NewErrorID returns an id under which a person who reads an internal error finds it in the
// log. A connection logs each internal error with one and sends it in data.errorId. An error
// whose method Logged() bool returns true was logged before, under the result of its method
// ErrorID() string.
func NewErrorID() string { return inside.NewErrorID() }

// LogText returns the text of err for a log. It removes the query, the fragment and the
// user from each URL in the text, because queries can contain keys and the errors of
// net/http contain the whole URL. It cuts a text of more than 4 KiB.
func LogText(err error) string { return inside.LogText(err) }
