//go:build unix

package stream

import (
	"errors"
	"io"
	"os"
	"os/signal"
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

var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// endBy ends this program by sig, so that its parent sees the signal. On SIGQUIT the runtime prints
// the goroutines and exits with status 2. The first process of a container is not ended by a
// signal, so it exits.
func endBy(sig os.Signal) {
	signal.Reset(sig)
	number, _ := sig.(syscall.Signal)
	if syscall.Kill(os.Getpid(), number) == nil {
		time.Sleep(time.Second) // the system may deliver the signal after kill has returned
	}
	os.Exit(128 + int(number))
}
