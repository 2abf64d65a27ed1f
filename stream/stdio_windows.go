package stream

import (
	"fmt"
	"os"
	"syscall"
)

var (
	kernel32         = syscall.NewLazyDLL("kernel32.dll")
	procSetStdHandle = kernel32.NewProc("SetStdHandle")
)

// takeStdio keeps the handles of standard input and output. It replaces them with the null device
// and standard error, both in the variables of package os and for the system calls that return
// them.
func takeStdio() (in, out *os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, fmt.Errorf("stream: taking standard input: %w", err)
	}
	in, out = os.Stdin, os.Stdout
	if err := setStdHandle(syscall.STD_INPUT_HANDLE, syscall.Handle(null.Fd())); err != nil {
		return nil, nil, fmt.Errorf("stream: replacing standard input: %w", err)
	}
	if err := setStdHandle(syscall.STD_OUTPUT_HANDLE, syscall.Stderr); err != nil {
		return nil, nil, fmt.Errorf("stream: replacing standard output: %w", err)
	}
	os.Stdin, os.Stdout = null, os.Stderr
	syscall.Stdin, syscall.Stdout = syscall.Handle(null.Fd()), syscall.Stderr
	return in, out, nil
}

func setStdHandle(which int, h syscall.Handle) error {
	if ok, _, err := procSetStdHandle.Call(uintptr(which), uintptr(h)); ok == 0 {
		return os.NewSyscallError("SetStdHandle", err)
	}
	return nil
}
