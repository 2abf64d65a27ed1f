package terminals

import (
	"os/exec"
	"syscall"
)

// setLine sets the whole command line.
func setLine(cmd *exec.Cmd, line string) { cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line} }
