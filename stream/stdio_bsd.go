//go:build unix && !linux && !solaris

package stream

import (
	"os"
	"syscall"
)

func dup2(from, to int) error { return os.NewSyscallError("dup2", syscall.Dup2(from, to)) }
