package files

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The reasons for which a request is refused. Their texts are sent to the agent.
var (
	// ErrOutside is the error of every path that is not in a folder of the session,
	// whether or not it exists.
	ErrOutside = localfs.ErrOutside
	// ErrUnknownSession is the error for a session that the client has not opened on this
	// connection.
	ErrUnknownSession = errors.New("unknown session")
	// ErrNotText is the error for a file or a text that is not valid UTF-8 or contains a NUL.
	ErrNotText = localfs.ErrNotText
	// ErrTooLarge is the error of a text beyond Options.MaxRead or Options.MaxWrite.
	ErrTooLarge = localfs.ErrTooLarge
	// ErrNotFile is the error for a path that is not a regular file, such as a folder or
	// a device.
	ErrNotFile = localfs.ErrNotFile
	// ErrNotFolder is the error for a path that is not a folder where one is required.
	ErrNotFolder = localfs.ErrNotFolder
	// ErrName is the error of a path that is relative or has a name that the system does
	// not allow or would change.
	ErrName = localfs.ErrName
	// ErrHardLink is the error of a write in place to a file with several names.
	ErrHardLink = localfs.ErrHardLink
	// ErrChanged is the error for a path that was replaced while it was used.
	ErrChanged = localfs.ErrChanged
)

// Error is the error of a request that failed.
type Error struct {
	// Path is the path of the request.
	Path string
	// Err is one of the errors of this package, or the error of the system.
	Err error
}

func (e *Error) Error() string { return "files: " + e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of package rpcerr for the error that the agent
// receives.
func (e *Error) Is(target error) bool { return e.RequestError().Is(target) }

var reasons = []error{
	ErrOutside, ErrUnknownSession, ErrNotText, ErrTooLarge, ErrNotFile, ErrNotFolder, ErrName, ErrHardLink, ErrChanged,
}

// RequestError returns the error that the agent receives: -32002 for a file that does not
// exist and -32602 for everything that this package refuses. Only the reason of a system error is
// sent, such as "no space left on device", without paths.
func (e *Error) RequestError() *rpcerr.RequestError {
	data := map[string]any{"path": e.Path}
	for _, reason := range reasons {
		if errors.Is(e.Err, reason) {
			return rpcerr.InvalidParams(data).WithDetail(reason.Error()).WithCause(e)
		}
	}
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return rpcerr.ResourceNotFound(e.Path).WithCause(e)
	case errors.Is(e.Err, fs.ErrPermission):
		return rpcerr.InvalidParams(data).WithDetail("permission denied").WithCause(e)
	}
	detail := "the file could not be used"
	if errno, ok := errors.AsType[syscall.Errno](e.Err); ok {
		detail += ": " + errno.Error()
	}
	return rpcerr.InternalError(data).WithDetail(detail).WithCause(e)
}
