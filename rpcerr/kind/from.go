package kind

import (
	"errors"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
)

// From returns the record that err carries: an [Error] in its chain, a bare [Kind], or what
// an error that a peer sent says. It reports false for nil and for every error that was not
// written for the wire; package classify makes records of those.
//
// An Error is returned as it is and not as a copy, except for one that lacks what its kind
// needs: in its place From returns what is sent, an internal error that wraps [ErrBadUse].
func From(err error) (*Error, bool) {
	var e *Error
	var r *rpcerr.RequestError
	var own error // what builds r
	// The walk stops where that of rpcerr.From does.
	inside.Walk(err, func(err error) bool {
		if record, ok := err.(*Error); ok {
			e = record
			return e != nil
		}
		if b, ok := err.(interface{ RequestError() *rpcerr.RequestError }); ok {
			if r, own = b.RequestError(), err; r != nil {
				return true
			}
		}
		a, ok := err.(interface{ As(any) bool })
		if ok && a.As(&r) && r != nil {
			own = r
			return true
		}
		return false
	})
	switch {
	case e != nil:
		return e.fit(), true
	case r == nil:
		return nil, false
	}
	e = FromRequestError(r)
	if own != error(r) && e.cause != nil && !errors.Is(err, e.cause) {
		err = join(err, e.cause) // a cause that only the wire form has
	}
	e.cause = err // with what was wrapped around the one that was found
	return e, true
}

// Of returns the kind of err, on either end of a connection, and "" when err
// carries none.
func Of(err error) Kind {
	if e, ok := From(err); ok {
		return e.Kind
	}
	return ""
}
