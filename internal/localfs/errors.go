package localfs

import (
	"errors"
	"io/fs"
	"syscall"
)

// The reasons for which a path is not used. Their texts are sent to peers.
var (
	// ErrOutside is the error of a path that is not below a root, whether or not it exists.
	ErrOutside = errors.New("path is outside of the folders of the session")
	// ErrNotText is the error of a text that is not valid UTF-8 or contains a NUL.
	ErrNotText = errors.New("not a text in UTF-8")
	// ErrTooLarge is the error of a text beyond a limit.
	ErrTooLarge = errors.New("too large")
	// ErrNotFile is the error of a path that is not a regular file.
	ErrNotFile = errors.New("not a regular file")
	// ErrNotFolder is the error of a path that is not a folder where one is required.
	ErrNotFolder = errors.New("not a folder")
	// ErrName is the error of a relative path, and of a name that the system does not allow or would change.
	ErrName = errors.New("not a valid absolute path")
	// ErrHardLink is the error of a write in place to a file with several names.
	ErrHardLink = errors.New("file has several hard links")
	// ErrChanged is the error of a path that was replaced while it was used.
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
