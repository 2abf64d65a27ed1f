package terminals

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/process"
	"github.com/acpkit/go-sdk/internal/reserve"
)

// Pool runs the commands of agents. All methods are safe for concurrent use.
type Pool struct {
	folders *files.Folders
	opts    Options

	mu      sync.Mutex // guards the fields below, and those of the parts and their sessions
	closed  bool
	running map[*terminal]struct{} // from before the command starts until its group is empty
}

// New returns a Pool whose commands work in folders. It starts nothing.
func New(folders *files.Folders, opts *Options) *Pool {
	return &Pool{folders: folders, opts: opts.withDefaults(), running: map[*terminal]struct{}{}}
}

// Terminals returns the part of a client that runs commands. Conn is the connection to
// the agent; when a session of it or the connection itself ends, so do its commands. A
// nil check allows all commands but those with variables that are not in
// Options.AgentEnv.
func (p *Pool) Terminals(conn files.Sessions, check Check) *Terminals {
	t := &Terminals{pool: p, check: check, sessions: map[acp.SessionID]*session{}}
	if conn != nil {
		conn.OnSessionEnd(t.endSession)
		conn.OnEnd(t.end)
	}
	return t
}

// Close ends all commands. It returns nil when nothing is left of their process groups,
// whatever began to end them, and an error if something is left long after it was killed.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.end(func(*terminal) bool { return true })
}

// end ends the commands for which match returns true, and waits for them.
func (p *Pool) end(match func(*terminal) bool) error {
	var all []*terminal
	p.mu.Lock()
	for term := range p.running {
		if match(term) {
			all = append(all, term)
		}
	}
	p.mu.Unlock()
	for _, term := range all {
		term.stop()
	}
	deadline := time.Now().Add(2*max(p.opts.Grace, 0) + 2*command.KillPatience)
	left := 0
	for _, term := range all {
		if !command.Within(time.Until(deadline), term.done) {
			left++
		}
	}
	switch left {
	case 0:
		return nil
	case 1:
		return errors.New("terminals: 1 command has not ended although it was killed")
	}
	return fmt.Errorf("terminals: %d commands have not ended although they were killed", left)
}

// Terminals is an [acp.TerminalHost] for one connection, made for embedding.
type Terminals struct {
	pool  *Pool
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
func most(output *process.Tail) int64 {
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
