package panics

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// Guard calls f, which calls a method of a stream that may be the user's, where a panic would
// end the program. A panic of f becomes an error with its stack. So does an error of f whose
// methods panic or end their goroutine, as those of a nil pointer do that was taken for no
// error: the caller can look at the error that Guard returns.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = recovered(p)
		}
	}()
	if err = f(); err != nil && err != io.EOF {
		err = sound(err)
	}
	return err
}

func recovered(p any) error { return fmt.Errorf("panic: %s\n\n%s", Text(p), debug.Stack()) }

// sound returns err if its methods can be called, and otherwise an error that names its type.
func sound(err error) error {
	failed := errors.New("runtime.Goexit was called")
	done := make(chan struct{})
	go func() { // ends with the methods
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				failed = recovered(p)
			}
		}()
		var none *noError // calls every method As
		_, _, _ = err.Error(), errors.Is(err, none), errors.As(err, &none)
		failed = nil
	}()
	<-done
	if failed == nil {
		return err
	}
	return fmt.Errorf("an error of type %T whose methods fail: %w", err, failed)
}

// noError is the type of no error.
type noError struct{}

func (*noError) Error() string { return "" }
