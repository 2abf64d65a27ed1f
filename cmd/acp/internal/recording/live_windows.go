package recording

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var procLockFile = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	lockFailImmediately = 1
	lockExclusive       = 2
	errLockViolation    = syscall.Errno(33)
)

// lockByte locks a byte behind all that is written, because Windows lets nobody else read what is
// locked. The lock ends with the file.
func lockByte(f *os.File, flags uintptr) error {
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	if done, _, err := procLockFile.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at))); done == 0 {
		return err
	}
	return nil
}

// hold marks a recording as one that is being written. The mark ends when the file is closed, and
// when the process ends, however it ends.
func hold(f *os.File) error { return lockByte(f, lockExclusive) }

// isHeld reports whether a process holds a recording.
func isHeld(f *os.File) bool {
	return errors.Is(lockByte(f, lockFailImmediately), errLockViolation)
}
