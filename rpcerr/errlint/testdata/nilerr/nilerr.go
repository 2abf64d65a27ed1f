package nilerr

import (
	"errors"
	"log/slog"
	"os"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func sent() *rpcerr.RequestError { return nil }

func direct() error {
	return kind.FromRequestError(sent()) // want `a nil pointer in an error is not nil`
}

func variable() (int, error) {
	r := sent()
	return 1, kind.FromRequestError(r) // want `a nil pointer in an error is not nil`
}

func named(r *rpcerr.RequestError) (err error) {
	defer func() {
		err = kind.FromRequestError(r) // want `a nil pointer in an error is not nil`
	}()
	return nil
}

func held(r *rpcerr.RequestError) error {
	e := kind.FromRequestError(r)
	return e // want `a nil pointer in an error is not nil`
}

// These functions return nil for nil.
func classified() (err error) {
	defer func() { err = rpcerr.From(err) }()
	return classify.Error(os.Remove("x"))
}

func ignored(err error) error {
	e, _ := kind.From(err)
	return e // want `a nil pointer in an error is not nil`
}

func believed(err error) error {
	if e, ok := kind.From(err); ok {
		return e
	}
	e, _ := kind.From(err)
	if e == nil {
		return err
	}
	return e
}

func given() {
	_ = errors.Join(nil, kind.FromRequestError(sent())) // want `a nil pointer in an error is not nil`
	log(kind.FromRequestError(sent()))                  // want `check for nil first`
	var err error = kind.FromRequestError(sent())       // want `a nil pointer in an error is not nil`
	err = kind.FromRequestError(sent())                 // want `a nil pointer in an error is not nil`
	log(err)
	slog.Info("x", "error", kind.FromRequestError(sent())) // it knows nil pointers
}

func log(error) {}

func heldAndChecked(r *rpcerr.RequestError) error {
	if e := kind.FromRequestError(r); e != nil {
		return e
	}
	return nil
}

func checked(r *rpcerr.RequestError) error {
	if r != nil {
		return kind.FromRequestError(r)
	}
	again := sent()
	if again == nil {
		return nil
	}
	err := error(kind.FromRequestError(again))
	return err
}

func asked(r *rpcerr.RequestError) error {
	if errors.Is(r, rpcerr.ErrInternal) {
		return kind.FromRequestError(r)
	}
	return nil
}

// quotaError is an error type of the program.
type quotaError struct{ limit int }

func (*quotaError) Error() string { return "quota" }

func quota(n int) *quotaError {
	if n < 7 {
		return nil
	}
	return &quotaError{7}
}

func always() *quotaError { return &quotaError{} }

func own(n int) (int, error) {
	switch n {
	case 0:
		var e *quotaError
		return 0, e // want `a nil pointer in an error is not nil`
	case 1:
		return 0, quota(n) // want `a nil pointer in an error is not nil`
	case 2:
		e := quota(n)
		return 0, e // want `a nil pointer in an error is not nil`
	case 3:
		return 0, always()
	}
	var late *quotaError
	for range n {
		if n > 5 {
			late = &quotaError{n}
		}
	}
	return 0, late // want `a nil pointer in an error is not nil`
}

func ownChecked(n int, err error) error {
	var e, either, found *quotaError
	if e = quota(n); e != nil {
		return e
	}
	if n == 1 {
		either = &quotaError{1}
	} else {
		either = &quotaError{2}
	}
	if n == 2 {
		return either
	}
	if !errors.As(err, &found) {
		return err
	}
	return found
}

// A pointer stays a pointer.
func pointer(r *rpcerr.RequestError) *kind.Error {
	e := kind.FromRequestError(r)
	if e.Retryable {
		return kind.FromRequestError(sent())
	}
	return kind.FromRequestError(r)
}

var _ = []any{held, ignored, believed, given, heldAndChecked, direct, variable, named, classified, checked, asked, pointer, own, ownChecked}
