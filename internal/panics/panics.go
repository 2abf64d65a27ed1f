// Package panics describes the panics of code of the user.
package panics

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
)

// Text returns the text of a panic as the Go runtime prints it when it ends a program: errors,
// strings and numbers in full, and only the type of every other value. Such a value, a request for
// example, may hold user content, which must not be logged.
func Text(v any) string {
	if err, ok := v.(error); ok {
		return fmt.Sprint(err) // which survives an Error method that panics
	}
	switch kind := reflect.ValueOf(v).Kind(); {
	case kind == reflect.String, reflect.Bool <= kind && kind <= reflect.Complex128:
		return fmt.Sprint(reflect.ValueOf(v))
	}
	return fmt.Sprintf("a value of type %T", v)
}

// Panic is the error for a panic that was recovered. It does not match the value that was passed
// to panic.
type Panic struct {
	Text  string // see [Text]
	Stack []byte
}

// Recovered returns the error for a value that was recovered. It must be called where the panic
// is recovered.
func Recovered(v any) *Panic { return &Panic{Text(v), debug.Stack()} }

func (e *Panic) Error() string { return "panic: " + e.Text }

// Guard calls f, which calls a method of a stream that may be the user's, where a panic would
// end the program. A panic of f becomes an error with its stack. Guard returns errors of f as
// [Sound] does.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e := Recovered(p)
			err = fmt.Errorf("%w\n\n%s", e, e.Stack)
		}
	}()
	if err = f(); err != nil && err != io.EOF {
		err = Sound(err)
	}
	return err
}

// Contained runs f, which calls methods of an error of the user. They may panic, as those of a
// nil pointer that was taken for no error do, and they may end their goroutine, so f gets one
// of its own. Contained returns an error if f did not return.
func Contained(f func()) (err error) {
	err = errors.New("runtime.Goexit was called")
	done := make(chan struct{})
	go func() { // ends with f
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = Recovered(p)
			}
		}()
		f()
		err = nil
	}()
	<-done
	return err
}

// Sound returns err if its methods can be called, and otherwise an error that names its type. It
// is for errors of the user that are kept.
func Sound(err error) error {
	if err == nil {
		return nil
	}
	failed := Contained(func() {
		var none *Panic // calls every method As
		_, _, _ = err.Error(), errors.Is(err, none), errors.As(err, &none)
	})
	if failed == nil {
		return err
	}
	return fmt.Errorf("an error of type %T whose methods fail: %w", err, failed)
}
