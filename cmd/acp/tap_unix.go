//go:build unix

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// isForeground reports whether the Ctrl-C of a terminal reaches this program. It reaches the agent
// too then. Where that cannot be found out, the agent gets the signal twice.
var isForeground = func() bool { return false }

// watched returns the signals that are passed on. A signal that this program ignores is not among
// them: the agent has inherited that it is ignored.
func watched() []os.Signal {
	all := []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
	}
	return slices.DeleteFunc(all, signal.Ignored)
}

// pass passes a signal on to the agent, unless the terminal has sent it to both. SIGPIPE is not
// passed on, because it is about the output of this program.
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
	switch sig { // after the others, the Go runtime would print the stacks of all goroutines
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM:
		signal.Reset(sig)
		if syscall.Kill(os.Getpid(), sig) == nil {
			time.Sleep(time.Second) // the system may deliver the signal after kill has returned
		}
	}
	os.Exit(128 + int(sig))
}
