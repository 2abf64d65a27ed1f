package rpc

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"

	"github.com/acpkit/go-sdk/rpcerr"
)

// safely runs code that may be the user's, an encoding method for example. A panic
// becomes an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// protect runs a function of the user whose error no one could be given.
func protect(log *slog.Logger, what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("acp: panic in "+what, "panic", PanicText(p), "stack", string(debug.Stack()))
		}
	}()
	f()
}

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return "panic: " + PanicText(e.value) }

// LogValue returns the text with the stack, for who logs the error in place of this package.
func (e *panicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("message", rpcerr.LogText(e)), slog.String("stack", string(e.stack)))
}

// PanicText tells a panic as the Go runtime does when it ends a program: errors, texts
// and numbers as they are, of everything else the type. Who panics with a request
// must not have its content in the log.
func PanicText(v any) string {
	if err, ok := v.(error); ok {
		return fmt.Sprint(err) // which survives an Error method that panics
	}
	switch kind := reflect.ValueOf(v).Kind(); {
	case kind == reflect.String, reflect.Bool <= kind && kind <= reflect.Complex128:
		return fmt.Sprint(reflect.ValueOf(v))
	}
	return fmt.Sprintf("a value of type %T", v)
}

func errorAttr(err error) slog.Attr {
	if p, ok := errors.AsType[*panicError](err); ok {
		return slog.Group("", slog.String("error", rpcerr.LogText(err)), slog.String("stack", string(p.stack)))
	}
	return slog.String("error", rpcerr.LogText(err)) // which survives an Error method that panics
}
