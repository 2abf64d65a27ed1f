//go:build !unix

package stream

import (
	"os"
	"syscall"
)

// On Windows, SIGTERM is sent when the console is closed, the user logs off or the system shuts
// down.
var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// endBy ends this program. It exits because a program cannot end itself by a signal here.
func endBy(os.Signal) { os.Exit(1) }
