package journal

import (
	"errors"
	"syscall"
	"unsafe"
)

var (
	kernel32       = syscall.NewLazyDLL("kernel32.dll")
	procLockFile   = kernel32.NewProc("LockFileEx")
	procUnlockFile = kernel32.NewProc("UnlockFileEx")
)

const (
	lockFailImmediately = 1
	lockExclusive       = 2
	errLockViolation    = syscall.Errno(33)
)

// behind is where the byte is that is locked: behind all that is read or written, because
// Windows lets nobody else read what is locked.
var behind = syscall.Overlapped{OffsetHigh: 1 << 30}

// lock locks a log file for this open file alone. The lock ends with the process, however
// it ends.
func lock(f logFile) (unlock func(), err error) {
	at := behind
	done, _, err := procLockFile.Call(f.Fd(), lockExclusive|lockFailImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if done == 0 {
		if errors.Is(err, errLockViolation) {
			return nil, errHeld
		}
		return nil, err
	}
	return func() {
		at := behind
		_, _, _ = procUnlockFile.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	}, nil
}

// syncFolder does nothing: Windows keeps the names of a folder in its own journal.
func syncFolder(string) error { return nil }
