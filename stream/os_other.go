//go:build !unix

package stream

import (
	"io"
	"os"
	"syscall"
)

// readReady is never called where pipes have no deadlines.
func readReady(*os.File, []byte) (int, error) { return 0, io.EOF }

// On Windows, SIGTERM is sent when the console is closed, the user logs off or the system shuts
// down.
var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// endBy ends this program. It exits because a program cannot end itself by a signal here.
func endBy(os.Signal) { os.Exit(1) }
