package remote

import (
	"os"
	"syscall"
)

// isPrivate reports false, because the access lists of folders are not read.
func isPrivate(string) bool { return false }

// isTerminal reports whether a file is a console.
func isTerminal(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}
