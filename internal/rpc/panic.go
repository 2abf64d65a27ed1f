package rpc

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
)

// safely runs code that may be the user's, an encoding method for example. A panic
// becomes an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return f()
}

// protect runs a function of the user whose error no one could be given.
func protect(log *slog.Logger, what string, f func()) {
	if p := safely(func() error { f(); return nil }); p != nil {
		log.Error("acp: panic in "+what, errorAttr(p))
	}
}

// Contained runs code that calls methods of an error of the user. They may panic, as those
// of a nil pointer do that was taken for no error, and they may end their goroutine, so
// they get one of their own. Contained returns an error if f did not return.
func Contained(f func()) (err error) {
	err = errors.New("runtime.Goexit was called")
	done := make(chan struct{})
	go func() { // ends with f
		defer close(done)
		err = safely(func() error { f(); return nil })
	}()
	<-done
	return err
}

// Sound returns err if its methods can be called, and otherwise an error that names its
// type. It is for errors of the user that are kept and returned by other methods.
func Sound(err error) error {
	if err == nil {
		return nil
	}
	failed := Contained(func() {
		var none *panicError // calls every method As
		_, _, _ = err.Error(), errors.Is(err, errNone), errors.As(err, &none)
	})
	if failed == nil {
		return err
	}
	return fmt.Errorf("acp: an error of type %T whose methods fail: %w", err, failed)
}

var errNone = errors.New("none") // which no error is

// panicError is a panic of a handler, or of other code of the user. It is an internal error
// whatever its text, and does not match the error that was passed to panic.
type panicError struct {
	text  string
	stack []byte
}

// Panicked returns the error for a value that was recovered. It must be called where the
// panic is recovered, and logs as its text with the stack.
func Panicked(v any) error { return &panicError{panics.Text(v), debug.Stack()} }

func (e *panicError) Error() string { return "panic: " + e.text }

// RequestError is the form in which the panic leaves.
func (e *panicError) RequestError() *rpcerr.RequestError { return rpcerr.InternalError(nil) }

// LogValue returns the text with the stack, for who logs the error in place of this package.
func (e *panicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("message", rpcerr.LogText(e)), slog.String("stack", string(e.stack)))
}

func errorAttr(err error) slog.Attr {
	if p, ok := errors.AsType[*panicError](err); ok {
		return slog.Group("", slog.String("error", rpcerr.LogText(err)), slog.String("stack", string(p.stack)))
	}
	return slog.String("error", rpcerr.LogText(err)) // which survives an Error method that panics
}
