//go:build unix

package interop_test

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a program a process group of its own, so that its children go when
// it is killed.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
