package filelock

import (
	"errors"
	"syscall"
	"unsafe"
)

var (
	kernel32   = syscall.NewLazyDLL("kernel32.dll")
	lockFile   = kernel32.NewProc("LockFileEx")
	unlockFile = kernel32.NewProc("UnlockFileEx")
)

const (
	failImmediately  = 1
	exclusive        = 2
	errLockViolation = syscall.Errno(33)
)

// behind is the offset of the locked byte. It is beyond the end of every file, because on Windows a locked
// range cannot be read by other processes.
var behind = syscall.Overlapped{OffsetHigh: 1 << 30}

func lock(f File, flags uintptr) error {
	at := behind
	done, _, err := lockFile.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case done != 0:
		return nil
	case errors.Is(err, errLockViolation):
		return ErrHeld
	}
	return err
}

// Lock waits for the lock of a file.
func Lock(f File) error { return lock(f, exclusive) }

// TryLock locks a file, or returns ErrHeld if it is locked.
func TryLock(f File) error { return lock(f, exclusive|failImmediately) }

// IsLocked reports whether a file is locked. It may be called by several processes at once. The file must be
// closed afterwards.
func IsLocked(f File) bool { return errors.Is(lock(f, failImmediately), ErrHeld) }

// Unlock unlocks a file before it is closed.
func Unlock(f File) {
	at := behind
	_, _, _ = unlockFile.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&at)))
}
