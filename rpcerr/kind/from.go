package kind

import (
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/rpcerr"
)

// From returns the record that err carries: an [Error] in its chain, an error of another
// package below rpcerr, a bare [Kind], or an error that a peer sent. It reports false for
// nil and for every error that was not written for the wire; package classify makes records
// of those.
//
// An Error is returned as it is and not as a copy, except for one that lacks what its kind
// needs: in its place From returns what is sent, an internal error that wraps [ErrBadUse].
func From(err error) (*Error, bool) {
	e, r, own := find(err)
	if e != nil {
		if use := e.incomplete(); use != nil {
			return use, true
		}
	}
	if r != nil {
		e = FromRequestError(r)
		if own != error(r) && e.cause != nil && !errors.Is(err, e.cause) {
			err = join([]error{err, e.cause}) // a cause that only the wire form has
		}
		e.cause = err // with what was wrapped around the one that was found
	}
	return e, e != nil
}

// find goes down the chain in the order of errors.As, and stops where [rpcerr.From]
// does: at a record, or at an error that builds one of the protocol.
func find(err error) (e *Error, r *rpcerr.RequestError, own error) {
	if r, ok := err.(interface{ Record() *Error }); ok {
		if e := r.Record(); e != nil {
			return e, nil, nil
		}
	} else if b, ok := err.(interface{ RequestError() *rpcerr.RequestError }); ok {
		if r := b.RequestError(); r != nil {
			return nil, r, err
		}
	}
	if a, ok := err.(interface{ As(any) bool }); ok && a.As(&r) && r != nil {
		return nil, r, r
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return find(w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range w.Unwrap() {
			if e, r, own := find(err); e != nil || r != nil {
				return e, r, own
			}
		}
	}
	return nil, nil, nil
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
