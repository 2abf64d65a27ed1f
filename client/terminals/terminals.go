package terminals

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
)

// Terminals is an [acp.TerminalHost] for one connection, made for embedding.
type Terminals struct {
	pool  *Pool
	conn  files.Sessions
	check Check

	// starting is held for reading while a command starts, and for writing in between
	// when commands are ended: none is missed then. It is taken without mu.
	starting sync.RWMutex

	mu       sync.Mutex // guards all below, and what the sessions hold
	over     bool
	sessions map[acp.SessionID]*session
}

var _ acp.TerminalHost = (*Terminals)(nil)

// session holds the terminals of a session.
type session struct {
	ended     bool
	pending   int // terminals that are being made
	terminals map[acp.TerminalID]*terminal
	released  map[*terminal]struct{} // whose commands have not ended
}

// find returns a terminal of a session.
func (t *Terminals) find(session acp.SessionID, id acp.TerminalID) (*terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
func (t *Terminals) TerminalOutput(_ context.Context, req *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	term, err := t.find(req.SessionID, req.TerminalID)
	if err != nil {
		return nil, err
	}
	res := &acp.TerminalOutputResponse{}
	if term.hasExited() {
		status := term.status
		res.ExitStatus = &status
	}
	res.Output, res.Truncated = term.output.text(res.ExitStatus != nil)
	return res, nil
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
	t.mu.Lock()
	if s := t.sessions[req.SessionID]; s != nil && s.terminals[term.id] == term {
		delete(s.terminals, term.id)
		if !isClosed(term.done) {
			s.released[term] = struct{}{}
		}
	}
	t.mu.Unlock()
	term.stop()
	return &acp.ReleaseTerminalResponse{}, nil
}

func (t *Terminals) endSession(id acp.SessionID) {
	t.mu.Lock()
	s := t.sessions[id]
	delete(t.sessions, id)
	if s != nil {
		s.ended = true
	}
	t.mu.Unlock()
	if s != nil {
		t.endAll([]*session{s})
	}
}

// end ends the commands of all sessions.
func (t *Terminals) end() {
	t.mu.Lock()
	var all []*session
	for _, s := range t.sessions {
		s.ended = true
		all = append(all, s)
	}
	t.over, t.sessions = true, nil
	t.mu.Unlock()
	t.endAll(all)
}

// endAll ends the commands of sessions that have ended, and waits for them.
func (t *Terminals) endAll(sessions []*session) {
	t.starting.Lock()
	t.starting.Unlock() //lint:ignore SA2001 who has the lock waits until what was starting is known
	var all []*terminal
	t.mu.Lock()
	for _, s := range sessions {
		for _, term := range s.terminals {
			all = append(all, term)
		}
		for term := range s.released {
			all = append(all, term)
		}
	}
	t.mu.Unlock()
	for _, term := range all {
		term.stop()
	}
	for _, term := range all {
		term.awaitEnd()
	}
}
