package files

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr"
)

// The reasons for which a request is refused. Their texts are sent to the agent.
var (
	// ErrOutside is the error of every path that is not in a folder of the session,
	// whether or not it exists.
	ErrOutside = errors.New("path is outside of the folders of the session")
	// ErrUnknownSession is the error for a session that the client has not opened on this
	// connection.
	ErrUnknownSession = errors.New("unknown session")
	// ErrNotText is the error for a file or a text that is not valid UTF-8 or contains a NUL.
	ErrNotText = errors.New("not a text in UTF-8")
	// ErrTooLarge is the error of a text beyond Options.MaxRead or Options.MaxWrite.
	ErrTooLarge = errors.New("too large")
	// ErrNotFile is the error for a path that is not a regular file, such as a folder or
	// a device.
	ErrNotFile = errors.New("not a regular file")
	// ErrNotFolder is the error for a path that is not a folder where one is required.
	ErrNotFolder = errors.New("not a folder")
	// ErrName is the error of a path that is relative or has a name that the system does
	// not allow or would change.
	ErrName = errors.New("not a valid absolute path")
	// ErrHardLink is the error of a write in place to a file with several names.
	ErrHardLink = errors.New("file has several hard links")
	// ErrChanged is the error for a path that was replaced while it was used.
	ErrChanged = errors.New("path has changed meanwhile; try again")
)

// changed returns ErrChanged for an error which means that a file was exchanged since it was
// checked. It returns other errors unchanged.
func changed(err error) error {
	if err == nil || errors.Is(err, fs.ErrClosed) {
		return err
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case !ok, // the error of os.Root for a symlink that leads outside
		errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist),
		errno == syscall.ENOTDIR, errno == syscall.EISDIR, errno == syscall.ELOOP, errno == syscall.EINVAL:
		return ErrChanged
	}
	return err
}

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
