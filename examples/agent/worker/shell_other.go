//go:build !windows

package worker

import (
	"context"
	"os/exec"
)

// shell returns how a client is asked to run a command line.
func shell(line string) (command string, args []string) { return "sh", []string{"-c", line} }

func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", line)
}
