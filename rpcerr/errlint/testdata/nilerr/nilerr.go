package nilerr

import (
	"errors"
	"log/slog"
	"os"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var c = classify.New()

func save() error { return os.Remove("x") }

func direct() error {
	return classify.Error(save()) // want `a nil pointer in an error is not nil`
}

func variable() (int, error) {
	err := save()
	return 1, c.Error(err) // want `a nil pointer in an error is not nil`
}

func named() (err error) {
	defer func() {
		err = rpcerr.From(err) // want `a nil pointer in an error is not nil`
	}()
	return save()
}

func held(err error) error {
	e := classify.Error(err)
	return e // want `a nil pointer in an error is not nil`
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
	_ = errors.Join(nil, classify.Error(save())) // want `a nil pointer in an error is not nil`
	log(classify.Error(save()))                  // want `use classify.Wrap`
	var err error = classify.Error(save())       // want `a nil pointer in an error is not nil`
	err = c.Error(err)                           // want `a nil pointer in an error is not nil`
	log(classify.Wrap(save()))
	slog.Info("x", "error", classify.Error(err)) // it knows nil pointers
}

func log(error) {}

func heldAndChecked(err error) error {
	if e := classify.Error(err); e != nil {
		return e
	}
	return classify.Wrap(err)
}

func checked() error {
	if err := save(); err != nil {
		return classify.Error(err)
	}
	err := save()
	if err == nil {
		return nil
	}
	err = classify.Error(err)
	return err
}

func asked(err error) error {
	if errors.Is(err, os.ErrExist) {
		return classify.Error(err)
	}
	switch err.(type) {
	case *os.PathError:
		return classify.Error(err)
	}
	return classify.Error(errors.New("never nil"))
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
func pointer(err error) *kind.Error {
	e := classify.Error(err)
	if e.Retryable {
		return classify.Error(save())
	}
	return classify.Error(err)
}

var _ = []any{held, ignored, believed, given, heldAndChecked, direct, variable, named, checked, asked, pointer, own, ownChecked}
