//go:build linux || darwin

package main

import (
	"os"
	"syscall"
	"unsafe"
)

func init() {
	isForeground = func() bool {
		tty, err := os.Open("/dev/tty")
		if err != nil {
			return false
		}
		defer tty.Close()
		var group int32
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
		return errno == 0 && int(group) == syscall.Getpgrp()
	}
}
