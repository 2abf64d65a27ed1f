//go:build unix

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// isForeground reports whether this program has a terminal whose Ctrl-C reaches it, and with it the
// agent. Systems on which that is not known send it twice.
var isForeground = func() bool { return false }

// watched returns the signals that are passed on. One that is ignored stays so, for the agent too.
func watched() []os.Signal {
	all := []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
	}
	return slices.DeleteFunc(all, signal.Ignored)
}

// pass passes a signal on to the agent, unless the terminal has sent it to both. SIGPIPE is about
// this program's own output.
func pass(sig os.Signal, agent *os.Process) {
	fromTerminal := (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && isForeground()
	if sig != syscall.SIGPIPE && !fromTerminal {
		_ = agent.Signal(sig) // it may have ended
	}
}

// endLike ends this program as the agent has ended.
func endLike(agent *os.ProcessState) {
	status, ok := agent.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		os.Exit(agent.ExitCode())
	}
	sig := status.Signal()
	switch sig { // of the others the Go runtime would print what its goroutines do
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM:
		signal.Reset(sig)
		if syscall.Kill(os.Getpid(), sig) == nil {
			time.Sleep(time.Second) // the system may deliver the signal after kill has returned
		}
	}
	os.Exit(128 + int(sig))
}
