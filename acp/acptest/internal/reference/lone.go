package reference

import (
	"context"
	"io"
	"os/exec"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/terminals"
)

// Lone runs a command. It does not end what the command has started. It is an Exec of
// [terminals.Options].
func Lone(_ context.Context, c *terminals.Command, output io.Writer) (terminals.Process, error) {
	cmd := exec.Command(c.Path, c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Cwd, c.Env, output, output, 10*time.Millisecond
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return lone{cmd}, nil
}

type lone struct{ cmd *exec.Cmd }

func (l lone) Wait() acp.TerminalExitStatus {
	_ = l.cmd.Wait() // its state tells how it ended
	code := uint32(1)
	if l.cmd.ProcessState.ExitCode() >= 0 { // no signal has ended it
		code = uint32(l.cmd.ProcessState.ExitCode())
	}
	return acp.TerminalExitStatus{ExitCode: &code}
}
func (l lone) Terminate() { l.Kill() }
func (l lone) Kill()      { _ = l.cmd.Process.Kill() } // it may have ended
func (l lone) Close()     {}
