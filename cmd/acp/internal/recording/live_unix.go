//go:build unix

package recording

import (
	"errors"
	"os"
	"syscall"
)

// hold marks a recording as one that is being written, until the file is closed or the process has
// ended, however it ends.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// isLive reports whether a process is writing the recording.
func isLive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
