//go:build unix

package stream

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// endBy ends this program by sig, so that its parent sees the signal. On SIGQUIT the runtime prints
// the goroutines and exits with status 2. The first process of a container is not ended by a
// signal, so it exits.
func endBy(sig os.Signal) {
	signal.Reset(sig)
	number, _ := sig.(syscall.Signal)
	if syscall.Kill(os.Getpid(), number) == nil {
		time.Sleep(time.Second) // the system may deliver the signal after kill has returned
	}
	os.Exit(128 + int(number))
}
