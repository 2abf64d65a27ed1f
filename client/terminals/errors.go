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
	ErrTooMany = errors.New("too many terminals")
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

// reasons are the errors that the agent can tell apart, with their words in the member reason of the data,
// and what the agent can do.
var reasons = []struct {
	err        error
	word, hint string
}{
	{files.ErrUnknownSession, "unknown_session", "Open the session on this connection first"},
	{ErrNotFound, "not_found", "Use a program that the client has, by its name or its path"},
	{ErrCwd, "no_such_folder", "Use the path of a folder as cwd"},
	{ErrCommand, "invalid_command", "Change the command, or run it in a script"},
	{ErrEnv, "variable_not_allowed", "Leave this variable out"},
}

// RequestError returns the error that the agent receives: -32602 for everything that this
// package refuses, with a word in the member reason of the data, such as unknown_session, and what the
// agent can do as the hint of a record of package kind. Only the reason of a system error is sent, such as
// "permission denied", without paths.
func (e *Error) RequestError() *rpcerr.RequestError {
	for _, reason := range reasons {
		if errors.Is(e.Err, reason.err) {
			data := map[string]any{"reason": reason.word, "recovery": map[string]string{"hint": reason.hint}}
			return rpcerr.InvalidParams(data).WithDetail(reason.err.Error() + ": " + e.What).WithCause(e) //errlint:ignore it is one of the texts of these packages
		}
	}
	if errors.Is(e.Err, ErrTooMany) {
		data := map[string]any{"reason": "too_many_terminals", "recovery": map[string]string{"hint": "Release a terminal first"}}
		return rpcerr.InternalError(data).WithDetail("too many terminals").WithCause(e)
	}
	detail := "the command could not be started"
	if errno, ok := errors.AsType[syscall.Errno](e.Err); ok {
		detail += ": " + errno.Error()
	}
	data := map[string]any{"recovery": map[string]string{"hint": "Check the program on the client's machine"}}
	return rpcerr.InternalError(data).WithDetail(detail).WithCause(e)
}

func unknown(id acp.TerminalID) error { return rpcerr.ResourceNotFound(string(id)) }
