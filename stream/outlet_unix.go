//go:build unix

package stream

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// readReady reads what is in the pipe. It reports an empty pipe as io.EOF.
func readReady(f *os.File, p []byte) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	for {
		var n int
		var readErr error
		err := conn.Read(func(fd uintptr) bool {
			n, readErr = syscall.Read(int(fd), p)
			return true // do not wait
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err := f.SetReadDeadline(time.Time{}); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, err
		case errors.Is(readErr, syscall.EINTR):
		case n <= 0 && (readErr == nil || errors.Is(readErr, syscall.EAGAIN)):
			return 0, io.EOF
		case readErr != nil:
			return 0, os.NewSyscallError("read", readErr)
		default:
			return n, nil
		}
	}
}
