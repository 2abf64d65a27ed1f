package rpc

import (
	"errors"
	"fmt"
	"log/slog"
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
			c.log.Error("acp: panic in "+what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
}

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func errorAttr(err error) slog.Attr {
	var p *panicError
	if errors.As(err, &p) {
		return slog.Group("", slog.String("error", err.Error()), slog.String("stack", string(p.stack)))
	}
	return slog.String("error", err.Error())
}
