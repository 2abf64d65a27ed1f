package terminals

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/reserve"
)

// Terminals is an [acp.TerminalHost] for one connection, made for embedding.
type Terminals struct {
	pool  *Pool
	conn  files.Sessions
	check Check

	// Pool.mu guards the fields below.
	over     bool
	sessions map[acp.SessionID]*session
}

var _ acp.TerminalHost = (*Terminals)(nil)

// session holds the terminals of a session. Pool.mu guards it.
type session struct {
	ended     bool
	pending   int // number of terminals that are being created
	terminals map[acp.TerminalID]*terminal
	released  int // number of released terminals whose commands have not ended
}

func (t *Terminals) find(session acp.SessionID, id acp.TerminalID) (*terminal, error) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if s := t.sessions[session]; s != nil {
		if term := s.terminals[id]; term != nil {
			return term, nil
		}
	}
	return nil, unknown(id)
}

// TerminalOutput returns the last part of what a command has printed so far.
//
// Protocol: terminal/output.
func (t *Terminals) TerminalOutput(ctx context.Context, req *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	term, err := t.find(req.SessionID, req.TerminalID)
	if err != nil {
		return nil, err
	}
	if err := reserve.Result(ctx, most(&term.output)); err != nil {
		return nil, err
	}
	res := &acp.TerminalOutputResponse{}
	if isClosed(term.exited) {
		status := term.status
		res.ExitStatus = &status
	}
	res.Output, res.Truncated = term.output.Text(res.ExitStatus != nil)
	return res, nil
}

// most returns the maximum length of the next text of the output. Short output may grow a little until
// then, and long output up to the limit, because its reader may have to wait.
func most(output *command.Tail) int64 {
	if n := output.Len(); n < reserve.Small {
		return int64(min(n, output.Limit))
	}
	return int64(output.Limit)
}

// WaitForTerminalExit waits until a command has ended.
//
// Protocol: terminal/wait_for_exit.
func (t *Terminals) WaitForTerminalExit(ctx context.Context, req *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	term, err := t.find(req.SessionID, req.TerminalID)
	if err != nil {
		return nil, err
	}
	select {
	case <-term.exited:
		return &acp.WaitForTerminalExitResponse{ExitCode: term.status.ExitCode, Signal: term.status.Signal}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// KillTerminal asks a command to end, and kills it after Options.Grace. It does not wait
// for that.
//
// Protocol: terminal/kill.
func (t *Terminals) KillTerminal(_ context.Context, req *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	term, err := t.find(req.SessionID, req.TerminalID)
	if err != nil {
		return nil, err
	}
	term.stop()
	return &acp.KillTerminalResponse{}, nil
}

// ReleaseTerminal ends a command like KillTerminal and removes its terminal.
//
// Protocol: terminal/release.
func (t *Terminals) ReleaseTerminal(_ context.Context, req *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	term, err := t.find(req.SessionID, req.TerminalID)
	if err != nil {
		return nil, err
	}
	t.pool.mu.Lock()
	if of := term.of; of.terminals[term.id] == term {
		delete(of.terminals, term.id)
		if !isClosed(term.exited) { // an agent that knows of the exit may create the next one
			of.released++
			term.released = true
		}
	}
	t.pool.mu.Unlock()
	term.stop()
	return &acp.ReleaseTerminalResponse{}, nil
}

func (t *Terminals) endSession(id acp.SessionID) {
	t.pool.mu.Lock()
	s := t.sessions[id]
	delete(t.sessions, id)
	if s != nil {
		s.ended = true
	}
	t.pool.mu.Unlock()
	if s != nil {
		_ = t.pool.end(func(term *terminal) bool { return term.of == s }) // Pool.Close reports the commands that are left
	}
}

// end ends the commands of all sessions, including those that have ended.
func (t *Terminals) end() {
	t.pool.mu.Lock()
	for _, s := range t.sessions {
		s.ended = true
	}
	t.over, t.sessions = true, nil
	t.pool.mu.Unlock()
	_ = t.pool.end(func(term *terminal) bool { return term.part == t }) // Pool.Close reports the commands that are left
}
