//go:build unix

package filelock

import (
	"errors"
	"syscall"
)

func lock(f File, how int) error {
	err := syscall.Flock(int(f.Fd()), how)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

// Lock waits for the lock of a file.
func Lock(f File) error { return lock(f, syscall.LOCK_EX) }

// TryLock locks a file, or returns ErrHeld if it is locked.
func TryLock(f File) error { return lock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// IsLocked reports whether a file is locked. It may be called by several processes at once. The file must be
// closed afterwards.
func IsLocked(f File) bool { return errors.Is(lock(f, syscall.LOCK_SH|syscall.LOCK_NB), ErrHeld) }

// Unlock unlocks a file before it is closed. A process that is being started may hold the file a moment longer.
func Unlock(f File) { _ = lock(f, syscall.LOCK_UN) }
