// Package errs contains what the packages of rpcerr share with each other and with the connections, and programs do
// not need: the walk through an error chain, the form of an error in a log, and the marks that tell another package
// where an error comes from.
package errs

import (
	"errors"
	"reflect"
)

// Walk calls visit for err and everything that it wraps, outermost first, until visit returns
// true. It reports whether visit did. It skips nil pointers, whose methods may panic.
func Walk(err error, visit func(error) (stop bool)) bool {
	for err != nil && !isNil(err) {
		if visit(err) {
			return true
		}
		switch w := err.(type) {
		case interface{ Unwrap() error }:
			err = w.Unwrap()
		case interface{ Unwrap() []error }:
			for _, err := range w.Unwrap() {
				if Walk(err, visit) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Is is errors.Is, by [Walk].
func Is(err, target error) bool {
	comparable := reflect.TypeOf(target).Comparable()
	return Walk(err, func(err error) bool {
		is, ok := err.(interface{ Is(error) bool })
		return comparable && err == target || ok && is.Is(target)
	})
}

// As is errors.AsType, by [Walk].
func As[E any](err error) (e E, ok bool) {
	Walk(err, func(err error) bool {
		if e, ok = err.(E); ok {
			return true
		}
		if as, has := err.(interface{ As(any) bool }); has {
			var target E
			ok = as.As(&target)
			e = target
		}
		return ok
	})
	return e, ok
}

// Both returns an error that wraps err and the cause, which may be nil.
func Both(err, cause error) error {
	if cause == nil || Is(err, cause) {
		return err
	}
	return errors.Join(err, cause)
}

// Explicit returns the first error in the chain of err that determines what is sent, and what
// it builds; R is rpcerr.RequestError. It stops without a result where stop returns true.
func Explicit[R any](err error, stop func(error) bool) (r *R, own error) {
	Walk(err, func(err error) bool {
		if stop(err) {
			return true
		}
		if b, ok := err.(interface{ RequestError() *R }); ok {
			r, own = b.RequestError(), err
		}
		if a, ok := err.(interface{ As(any) bool }); r == nil && ok && a.As(&r) {
			own, _ = any(r).(error)
		}
		return r != nil
	})
	return r, own
}

// ErrBadUse is kind.ErrBadUse.
var ErrBadUse = errors.New("kind: bad use")

// Misuse describes a call with an argument that makes its result impossible. It is the cause of the
// record that replaces the result.
type Misuse struct {
	Func    string // the function that was called, such as "kind.Upstream"
	Problem string // what was wrong, such as "0 is not an HTTP error status"
}

func (m *Misuse) Error() string { return m.Func + ": " + m.Problem }

func (m *Misuse) Is(target error) bool { return target == ErrBadUse }

// Derived is the cause of a record whose kind a program chose by looking at Cause. The method
// Is of the record reports true for [ErrDerived].
type Derived struct{ Cause error }

func (d *Derived) Error() string { return d.Cause.Error() }

// ErrDerived asks the method Is of a record whether its kind was derived from its cause.
var ErrDerived = errors.New("kind: derived")
