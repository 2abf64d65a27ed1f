package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

// TerminalResult is how a command ended and what it printed.
type TerminalResult struct {
	// Output is what the command printed; only the end of it when Truncated.
	Output    string
	Truncated bool
	// ExitCode is nil when the command was ended by a signal, or when it is not
	// known how it ended.
	ExitCode *uint32
	// Signal names the signal that ended the command; mostly empty.
	Signal string
}

// RunTerminal runs a command at the client to its end: it creates the terminal,
// waits for the exit, reads the output, and releases the terminal, whatever happens.
// A command that exits with an error is not an error of RunTerminal.
//
// When ctx ends first, by a timeout or because the turn was cancelled, the command is
// killed; the result then holds what it had printed, beside the error of ctx. The
// result is nil only when there is no output to tell of.
func (c *Conn) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	term, err := c.StartTerminal(ctx, req)
	if err != nil {
		return nil, err
	}
	defer term.Release(ctx)
	exit, waitErr := term.WaitForExit(ctx)

	after, stop := outlive(ctx)
	defer stop()
	if waitErr != nil {
		// Whatever went wrong, the command is of no use any more. It prints its
		// last words between the kill and its end.
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

// RunTerminal is [Conn.RunTerminal] for this session; the request's SessionID is filled
// in.
func (s *Session) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	return s.conn.RunTerminal(ctx, s.ownTerminal(req))
}
