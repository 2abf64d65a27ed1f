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

// behind is the offset of the locked byte. It is beyond the end of every log, because on Windows a
// locked range cannot be read by other processes.
var behind = syscall.Overlapped{OffsetHigh: 1 << 30}

// lock takes an exclusive lock on a log file. The lock belongs to this open file. The operating
// system releases it when the process ends, also after a crash.
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

// syncFolder does nothing, because the file system of Windows journals the names in a directory
// itself.
func syncFolder(string) error { return nil }
