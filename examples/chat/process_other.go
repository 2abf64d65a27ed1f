//go:build !unix

package main

import (
	"os"
	"os/exec"

	"github.com/acpkit/go-sdk/acp"
)

const doNotBlock = 0

func ownGroup(*exec.Cmd) {}

// killGroup ends the command alone: children that it started live on.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func exitStatus(state *os.ProcessState) acp.TerminalExitStatus {
	return acp.TerminalExitStatus{ExitCode: new(uint32(state.ExitCode()))}
}
