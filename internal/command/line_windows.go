package command

import (
	"os/exec"
	"syscall"
)

func setLine(cmd *exec.Cmd, line string) { cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line} }
