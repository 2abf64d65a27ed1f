package main

import "syscall"

const (
	ioctlGet, ioctlSet = syscall.TIOCGETA, syscall.TIOCSETA
	ioctlSetFlushed    = syscall.TIOCSETAF // also drops what was typed
)

func selectInput(n int, set *syscall.FdSet, timeout *syscall.Timeval) error {
	return syscall.Select(n, set, nil, nil, timeout)
}
