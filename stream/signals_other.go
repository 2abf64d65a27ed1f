//go:build !unix

package stream

import (
	"os"
	"syscall"
)

// SIGTERM stands for the end of the console, of the login and of the system on Windows.
var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// endBy ends this program. Programs cannot be ended by signals here.
func endBy(os.Signal) { os.Exit(1) }
