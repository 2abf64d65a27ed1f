package main

import (
	"os"
	"syscall"
)

// isTerminal reports whether the file is a console. NUL is a character device too, and has
// no console mode.
func isTerminal(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}
