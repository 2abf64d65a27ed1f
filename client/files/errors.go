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

// reasons are the errors that the agent can tell apart, with their words in the member reason of the
// data, and what the agent can do. Package rpcerr/toolcode knows the words that have a code there.
var reasons = []struct {
	err        error
	word, hint string
}{
	{ErrOutside, "path_escape", "Use a path in a folder of the session"},
	{ErrUnknownSession, "unknown_session", "Open the session on this connection first"},
	{ErrNotText, "is_binary", "Read and write what is not text with a command"},
	{ErrTooLarge, "too_large", "Read a part, by line and limit, or write less"},
	{ErrNotFile, "not_a_file", "Use the path of a file"},
	{ErrNotFolder, "not_a_folder", "Use a path all of whose parents are folders"},
	{ErrName, "invalid_name", "Use an absolute path, with names that this system allows"},
	{ErrHardLink, "hard_link", "Remove the file first, or write to another path"},
	{ErrChanged, "changed", "Read the file again first"},
}

// RequestError returns the error that the agent receives: -32002 for a file that does not
// exist and -32602 for everything that this package refuses, with a word in the member reason of the data:
// path_escape, unknown_session, is_binary, too_large, not_a_file, not_a_folder, invalid_name, hard_link or
// changed, and what the agent can do as the hint of a record of package kind. Only the reason of a system
// error is sent, such as "no space left on device", without paths.
func (e *Error) RequestError() *rpcerr.RequestError {
	data := map[string]any{"path": e.Path}
	for _, reason := range reasons {
		if errors.Is(e.Err, reason.err) {
			data["reason"], data["recovery"] = reason.word, map[string]string{"hint": reason.hint}
			return rpcerr.InvalidParams(data).WithDetail(reason.err.Error()).WithCause(e) //errlint:ignore it is one of the texts of this package
		}
	}
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return rpcerr.ResourceNotFound(e.Path).WithCause(e)
	case errors.Is(e.Err, fs.ErrPermission):
		data["recovery"] = map[string]string{"hint": "Change the permissions of the file, or use another one"}
		return rpcerr.InvalidParams(data).WithDetail("permission denied").WithCause(e)
	}
	detail := "the file could not be used"
	data["recovery"] = map[string]string{"hint": "Check the disk and the folder on the client's machine"}
	if errno, ok := errors.AsType[syscall.Errno](e.Err); ok {
		detail += ": " + errno.Error()
	}
	return rpcerr.InternalError(data).WithDetail(detail).WithCause(e)
}
