package stream

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

const (
	canAwaitInput = true

	pollIn = 1 // POLLIN
)

// awaitInput waits until f can be read, for d at most. For Go's scheduler it is a system
// call like any other: the goroutine keeps its processor unless it is taken away.
func awaitInput(f *os.File, d time.Duration) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { // an interrupted wait is over as well
		poll := struct {
			fd              int32
			events, revents int16
		}{fd: int32(fd), events: pollIn}
		wait := syscall.NsecToTimespec(int64(d))
		_, _, _ = syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&wait)), 0, 0, 0)
	})
}
