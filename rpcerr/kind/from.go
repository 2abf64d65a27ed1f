package kind

import (
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/rpcerr"
)

// From returns the record that err carries: an [Error] in its chain, an error of
// another package of this family, a bare [Kind], or what a peer answered. It
// reports false for nil and for every error that nobody meant for the wire;
// package classify knows what to make of those.
//
// An Error is returned as it is and not as a copy.
func From(err error) (*Error, bool) {
	var own interface{ RequestError() *rpcerr.RequestError }
	if !errors.As(err, &own) {
		return nil, false
	}
	if r, ok := own.(interface{ Record() *Error }); ok {
		if e := r.Record(); e != nil {
			return e, true
		}
	}
	r := own.RequestError()
	if r == nil { // declined; something below it may still know
		var e *Error
		return e, errors.As(err, &e) && e != nil
	}
	e := FromRequestError(r)
	if e.cause == nil {
		e.cause = err
	}
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

// join wraps the errors that are not nil.
func join(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
