package terminals

import (
	"errors"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The reasons for which a command is not run. Their texts are sent to the agent.
var (
	// ErrTooMany is the error of a session that has Options.PerSession terminals.
	ErrTooMany = errors.New("too many terminals: release some")
	// ErrNotFound is the error of a command that does not exist.
	ErrNotFound = command.ErrNotFound
	// ErrCwd is the error of a folder that does not exist.
	ErrCwd = errors.New("no such folder")
	// ErrCommand is the error of a command that cannot be run as it is.
	ErrCommand = command.ErrInvalid
	// ErrEnv is the error of a variable that the agent must not set.
	ErrEnv = errors.New("environment variable is not allowed")
)

// Error is the error of a command that was not run.
type Error struct {
	// What is the command or the variable that was refused.
	What string
	// Err is one of the errors of this package, files.ErrUnknownSession, or the error of the
	// system.
	Err error
}

func (e *Error) Error() string { return "terminals: " + e.What + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of package rpcerr for the error that the agent
// receives.
func (e *Error) Is(target error) bool { return e.RequestError().Is(target) }

// RequestError returns the error that the agent receives: -32602 for everything that this
// package refuses. Only the reason of a system error is sent, such as "permission denied",
// without paths.
func (e *Error) RequestError() *rpcerr.RequestError {
	for _, reason := range []error{files.ErrUnknownSession, ErrNotFound, ErrCwd, ErrCommand, ErrEnv} {
		if errors.Is(e.Err, reason) {
			return rpcerr.InvalidParams(nil).WithDetail(reason.Error() + ": " + e.What).WithCause(e)
		}
	}
	if errors.Is(e.Err, ErrTooMany) {
		return rpcerr.InternalError(nil).WithDetail(ErrTooMany.Error()).WithCause(e)
	}
	detail := "the command could not be started"
	if errno, ok := errors.AsType[syscall.Errno](e.Err); ok {
		detail += ": " + errno.Error()
	}
	return rpcerr.InternalError(nil).WithDetail(detail).WithCause(e)
}

func unknown(id acp.TerminalID) error { return rpcerr.ResourceNotFound(string(id)) }
