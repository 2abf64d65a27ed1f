//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a log file for this open file alone. The lock ends with the process, however
// it ends.
func lock(f logFile) (unlock func(), err error) {
	fd := int(f.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	} else if err != nil {
		return nil, err
	}
	return func() { _ = syscall.Flock(fd, syscall.LOCK_UN) }, nil
}

// syncFolder makes the names in a folder survive the loss of power.
func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
