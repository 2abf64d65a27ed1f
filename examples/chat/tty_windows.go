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

var (
	kernel         = syscall.NewLazyDLL("kernel32.dll")
	flushConsole   = kernel.NewProc("FlushConsoleInputBuffer")
	setConsoleMode = kernel.NewProc("SetConsoleMode")
)

func discardInput(f *os.File) { _, _, _ = flushConsole.Call(f.Fd()) } // without a console there is nothing to drop

const enableEchoInput = 4

// showTyped tells whether the console shows what is typed.
func showTyped(f *os.File, show bool) {
	var mode uint32
	if syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) != nil {
		return // the console is gone
	}
	mode &^= enableEchoInput
	if show {
		mode |= enableEchoInput
	}
	_, _, _ = setConsoleMode.Call(f.Fd(), uintptr(mode)) // without a console there is nothing to hide
}
