package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// TerminalResult is the output of a command and how the command ended.
type TerminalResult struct {
	// Output is the output of the command. If Truncated is true, it is only the last
	// part of the output.
	Output    string
	Truncated bool
	// ExitCode is nil if a signal ended the command, or if it is not known how the
	// command ended.
	ExitCode *uint32
	// Signal is the name of the signal that ended the command, or empty.
	Signal string
}

// RunTerminal runs a command at the client and waits for its end: it creates a terminal,
// waits for the exit, reads the output, and always releases the terminal. A non-zero exit
// code is not an error of RunTerminal.
//
// If ctx is done first, because of a deadline or because the turn was cancelled,
// RunTerminal kills the command and returns the error of ctx together with a result that
// holds the output so far. The result is nil only if the output could not be read.
func (c *Conn) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	term, err := c.StartTerminal(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Release(ctx) }() // the result of the command is known
	exit, waitErr := term.WaitForExit(ctx)

	after, stop := outlive(ctx)
	defer stop()
	if waitErr != nil {
		// The caller no longer waits for the command. The command may print more between the kill
		// and its end.
		if term.Kill(after) == nil {
			exit, _ = term.WaitForExit(after)
		}
	}
	out, err := term.Output(after)
	if err != nil {
		if waitErr != nil {
			err = waitErr
		}
		return nil, err
	}
	res := &TerminalResult{Output: out.Output, Truncated: out.Truncated}
	switch {
	case exit != nil:
		res.ExitCode, res.Signal = exit.ExitCode, exit.Signal
	case out.ExitStatus != nil:
		res.ExitCode, res.Signal = out.ExitStatus.ExitCode, out.ExitStatus.Signal
	}
	return res, waitErr
}

// RunTerminal calls [Conn.RunTerminal] with a copy of req that has the id of this session.
func (s *Session) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	return s.conn.RunTerminal(ctx, s.ownTerminal(req))
}
