package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The reasons for which an operation is refused. The error for a missing file is fs.ErrNotExist,
// also if the client reports it.
var (
	ErrNotOffered = errors.New("not offered in this session") // neither the client nor this machine offers the operation
	ErrOutside    = localfs.ErrOutside                        // a path is in no root, whether or not it exists
	ErrName       = errors.New("not a valid path")
	ErrNotText    = localfs.ErrNotText  // not valid UTF-8, or contains a NUL
	ErrNotFile    = localfs.ErrNotFile  // for example a folder or a device
	ErrTooLarge   = localfs.ErrTooLarge // a text of more than 4 MiB
	ErrStale      = errors.New("the file has changed since it was read, and nothing was written; read it again")
	ErrUnsaved    = errors.New("the file has unsaved changes in the editor") // and the client does not offer writing
	ErrPattern    = errors.New("not a valid pattern")                        // neither a regular expression of package regexp nor a pattern of names
)

// Error is the error of an operation. As an acp.ToolFailure it tells the client and the model the
// reason.
type Error struct {
	Path string // or the command
	Err  error
}

func (e *Error) Error() string { return "workspace: " + e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// FailedToolCall implements acp.ToolFailure.
func (e *Error) FailedToolCall() *acp.ToolCallUpdate {
	return (&tools.Failure{Text: oneLine(e.Path) + ": " + e.reason()}).FailedToolCall()
}

func (e *Error) reason() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return "does not exist"
	}
	if of, ok := errors.AsType[*rpcerr.RequestError](e.Err); ok {
		return "the client says: " + of.Error()
	}
	return e.Err.Error()
}

// failed returns the error of an operation. It returns errors of a ctx and of a connection
// unchanged.
func failed(what string, err error) error {
	of, refused := errors.AsType[*rpcerr.RequestError](err)
	_, wrapped := errors.AsType[*Error](err)
	switch {
	case err == nil, wrapped, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, acp.ErrClosed):
		return err
	case refused && missing(of):
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return &Error{what, err}
}

// missing reports whether a client reports that a file does not exist. Many clients send the error
// of their operating system as an internal error.
func missing(err *rpcerr.RequestError) bool {
	text := strings.ToLower(fmt.Sprintf("%v %s", err, err.Data))
	return errors.Is(err, rpcerr.ErrResourceNotFound) || err.Code == rpcerr.CodeInternalError &&
		(strings.Contains(text, "enoent") || strings.Contains(text, "no such file") || strings.Contains(text, "not found"))
}

// silent reports whether a client has failed without a reason. Some clients do so for a file that
// does not exist.
func silent(err error) bool {
	of, ok := errors.AsType[*rpcerr.RequestError](err)
	return ok && of.Code == rpcerr.CodeInternalError && of.Data == nil
}
