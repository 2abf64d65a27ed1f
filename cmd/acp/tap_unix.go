//go:build unix

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// watched returns the signals that are passed on. A signal that this program ignores is not among
// them: the agent has inherited that it is ignored.
func watched() []os.Signal {
	all := []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
	}
	return slices.DeleteFunc(all, signal.Ignored)
}

// passOn reports whether the agent gets a signal that this program gets. SIGPIPE is about the output of
// this program.
func passOn(sig os.Signal) bool { return sig != syscall.SIGPIPE }

// endLike ends this program as the agent has ended.
func endLike(agent *os.ProcessState) {
	status, ok := agent.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		os.Exit(agent.ExitCode())
	}
	sig := status.Signal()
	switch sig { // after the others, the Go runtime would print the stacks of all goroutines
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM:
		signal.Reset(sig)
		if syscall.Kill(os.Getpid(), sig) == nil {
			time.Sleep(time.Second) // the system may deliver the signal after kill has returned
		}
	}
	os.Exit(128 + int(sig))
}
