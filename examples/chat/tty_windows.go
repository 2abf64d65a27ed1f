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

var flushConsole = syscall.NewLazyDLL("kernel32.dll").NewProc("FlushConsoleInputBuffer")

func discardInput(f *os.File) { _, _, _ = flushConsole.Call(f.Fd()) } // without a console there is nothing to drop
