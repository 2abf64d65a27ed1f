package rpc

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
)

// safely runs code that may be the user's, an encoding method for example. A panic
// becomes an error.
func (c *Conn) safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// protect runs a function of the user that has nobody to return an error to.
func (c *Conn) protect(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("acp: panic in "+what, "panic", PanicText(p), "stack", string(debug.Stack()))
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
	var p *panicError
	if errors.As(err, &p) {
		return slog.Group("", slog.String("error", fmt.Sprint(err)), slog.String("stack", string(p.stack)))
	}
	return slog.String("error", fmt.Sprint(err)) // which survives an Error method that panics
}
