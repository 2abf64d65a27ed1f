package worker

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
)

// shell returns how a client is asked to run a command line. Arguments for cmd.exe would
// not arrive as they are, so a line stands alone, which clients give to their shell. They
// would take a single word for a program, and it may be a command of the shell.
func shell(line string) (command string, args []string) {
	if strings.ContainsAny(line, " \t\"&|<>") {
		return line, nil
	}
	return "cmd.exe", []string{"/d", "/c", line}
}

func shellCommand(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	return cmd
}
