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

// hold marks a recording as one that is being written, until the file is closed or the process has
// ended, however it ends.
func hold(f *os.File) error { return lockByte(f, lockExclusive) }

// isLive reports whether a process is writing the recording.
func isLive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lockByte(f, lockFailImmediately), errLockViolation)
}
