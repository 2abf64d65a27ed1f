//go:build unix

package recording

import (
	"errors"
	"os"
	"syscall"
)

// hold marks a recording as one that is being written. The mark ends when the file is closed, and
// when the process ends, however it ends.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// isHeld reports whether a process holds a recording.
func isHeld(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
