//go:build unix && !solaris

package stream

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// takeStdio moves standard input and output to private descriptors. It replaces them with the null
// device and standard error.
func takeStdio() (in, out *os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, fmt.Errorf("stream: taking standard input: %w", err)
	}
	defer null.Close()
	if in, err = private(0, syscall.O_RDONLY, "stdin"); err != nil {
		return nil, nil, fmt.Errorf("stream: taking standard input: %w", err)
	}
	if out, err = private(1, syscall.O_WRONLY, "stdout"); err != nil {
		in.Close()
		return nil, nil, fmt.Errorf("stream: taking standard output: %w", err)
	}
	if err = dup2(int(null.Fd()), 0); err == nil {
		err = dup2(2, 1)
	}
	if err != nil {
		in.Close()
		out.Close()
		return nil, nil, fmt.Errorf("stream: replacing a standard descriptor: %w", err)
	}
	catchSIGPIPE()
	return in, out, nil
}

// catchSIGPIPE prevents a write to a broken descriptor 1 or 2 from ending the process: package os
// raises SIGPIPE for these two. The signal is caught, not ignored, because children would inherit
// the latter.
func catchSIGPIPE() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// reopen opens the pipe of a descriptor a second time, or returns nil. It is nil on systems other
// than Linux, where a file below /dev/fd shares its mode with the original.
var reopen func(fd, mode int, name string) *os.File

// private duplicates descriptor fd to one that children do not inherit. A pipe or socket is put
// into non-blocking mode, so that the runtime can interrupt reads and writes.
func private(fd, mode int, name string) (*os.File, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	kind := st.Mode & syscall.S_IFMT
	if kind == syscall.S_IFIFO {
		// A file that is opened again has its own mode, which affects no other descriptor.
		if reopen != nil {
			if f := reopen(fd, mode, name); f != nil {
				return f, nil
			}
		}
	}
	syscall.ForkLock.RLock()
	own, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	if (kind == syscall.S_IFIFO || kind == syscall.S_IFSOCK) && !sharedWithStderr(&st) {
		// The mode belongs to the open file and affects every descriptor that shares it. If
		// standard error shares it, it must stay blocking.
		_ = syscall.SetNonblock(own, true)
	}
	return os.NewFile(uintptr(own), name), nil
}

func sharedWithStderr(st *syscall.Stat_t) bool {
	var e syscall.Stat_t
	return syscall.Fstat(2, &e) == nil && e.Dev == st.Dev && e.Ino == st.Ino
}
