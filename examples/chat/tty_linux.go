package main

import "syscall"

const (
	ioctlGet, ioctlSet = syscall.TCGETS, syscall.TCSETS
	ioctlSetFlushed    = syscall.TCSETS + 2 // TCSETSF, which also drops what was typed
)

func selectInput(n int, set *syscall.FdSet, timeout *syscall.Timeval) error {
	_, err := syscall.Select(n, set, nil, nil, timeout)
	return err
}
