//go:build linux || darwin

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// follow keeps the mode of the terminal right: it is restored when a signal ends the program,
// and again is called when the program goes on after Ctrl-Z.
func (t *tty) follow(again func()) {
	if t == nil {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCONT)
	for _, ending := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(ending) { // Notify would end that
			signal.Notify(signals, ending)
		}
	}
	go func() { // ends with the program
		for s := range signals {
			if s == syscall.SIGCONT {
				again()
			} else {
				t.restore()
			}
		}
	}()
}
