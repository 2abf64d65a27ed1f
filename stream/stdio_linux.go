package stream

import (
	"os"
	"strconv"
	"syscall"
)

// reopen opens the pipe of fd a second time, or returns nil.
func reopen(fd, mode int, name string) *os.File {
	path := "/proc/self/fd/" + strconv.Itoa(fd)
	own, err := syscall.Open(path, mode|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(own), name)
}

// dup2 uses dup3, because newer architectures have no dup2.
func dup2(from, to int) error { return os.NewSyscallError("dup3", syscall.Dup3(from, to, 0)) }
