// Package filelock locks files between processes. A lock belongs to one open file. The operating system
// releases it when the file is closed, and when the process ends, also after a crash.
package filelock

import "errors"

// File is an open file.
type File interface{ Fd() uintptr }

// ErrHeld is the error of a lock that another open file has.
var ErrHeld = errors.New("held")
