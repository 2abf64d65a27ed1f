package rpc

import (
	"errors"

	"github.com/acpkit/go-sdk/internal/wire"
)

// closedError is what every call gets from a connection that has ended: it is
// wire.ErrClosed, and it wraps what ended it.
type closedError struct{ cause error }

func (e *closedError) Error() string {
	if e.cause == nil {
		return wire.ErrClosed.Error()
	}
	return wire.ErrClosed.Error() + ": " + e.cause.Error()
}

func (e *closedError) Is(target error) bool { return target == wire.ErrClosed }

func (e *closedError) Unwrap() error { return e.cause }

// closed wraps cause unless it is the kind of error already.
func closed(cause error) error {
	if cause != nil && errors.Is(cause, wire.ErrClosed) {
		return cause
	}
	return &closedError{cause: cause}
}

var (
	errNotReady   = errors.New("acp: the connection is not ready: make it with New, and use it when New has returned")
	errNotStarted = errors.New("acp: connection is not started: call Start or Run first")
	errStarted    = errors.New("acp: the connection is already started: call Start or Run once")
	errShutdown   = errors.New("connection is shutting down")

	errBeforeHandshake = errors.New("the connection is not initialized")
)
