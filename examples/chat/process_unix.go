//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
)

// doNotBlock makes opening a pipe that nobody writes return at once.
const doNotBlock = syscall.O_NONBLOCK

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the command and what it started. The group has the number of its
// first process, which is not reused before it was waited for.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func exitStatus(state *os.ProcessState) acp.TerminalExitStatus {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return acp.TerminalExitStatus{Signal: ws.Signal().String()}
	}
	return acp.TerminalExitStatus{ExitCode: new(uint32(state.ExitCode()))}
}
