//go:build unix

package signin

import (
	"os/exec"
	"syscall"

	"github.com/acpkit/go-sdk/internal/process"
)

// start starts a command in the process group of this program, which has the terminal. A signal
// that ends the program also ends the command; see stream.EndOnSignal.
func start(cmd *exec.Cmd) (ended func(), err error) {
	var attr syscall.SysProcAttr
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	if !attr.Setsid && !attr.Setpgid {
		attr.Setpgid, attr.Pgid = true, syscall.Getpgrp()
	}
	cmd.SysProcAttr = &attr
	g, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	return func() {
		g.Reaped()
		g.Close()
		process.Hold()
	}, nil
}
