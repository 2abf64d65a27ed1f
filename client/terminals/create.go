package terminals

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/asked"
	"github.com/acpkit/go-sdk/internal/command"
	"github.com/acpkit/go-sdk/internal/termview"
)

// CreateTerminal runs a command.
//
// Protocol: terminal/create.
func (t *Terminals) CreateTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	s, err := t.reserve(ctx, req.SessionID)
	if err != nil {
		return nil, err
	}
	made := false
	defer func() { // runs even if a Check or Exec panics
		if !made {
			t.pool.mu.Lock()
			defer t.pool.mu.Unlock()
			s.pending--
		}
	}()
	term, err := t.create(ctx, s, req)
	if err != nil {
		return nil, err
	}
	made = true
	return &acp.CreateTerminalResponse{TerminalID: term.id}, nil
}

func (t *Terminals) reserve(ctx context.Context, id acp.SessionID) (*session, error) {
	known := asked.Of(ctx).Roots(string(id)) != nil
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if !known || t.over || t.pool.closed {
		return nil, &Error{What: string(id), Err: files.ErrUnknownSession}
	}
	s := t.sessions[id]
	if s == nil {
		s = &session{terminals: map[acp.TerminalID]*terminal{}}
		t.sessions[id] = s
	}
	if s.pending+len(s.terminals)+s.released >= t.pool.opts.PerSession {
		return nil, &Error{What: string(id), Err: ErrTooMany}
	}
	s.pending++
	return s, nil
}

func (t *Terminals) create(ctx context.Context, s *session, req *acp.CreateTerminalRequest) (*terminal, error) {
	dir, cwd, err := t.pool.folders.OpenFolder(ctx, req.SessionID, req.Cwd)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = &Error{What: req.Cwd, Err: ErrCwd}
		}
		return nil, err
	}
	defer dir.Close()
	opts := &t.pool.opts
	c, err := opts.command(req, dir, cwd, t.check != nil)
	if err != nil {
		return nil, err
	}
	c.Terminal = acp.TerminalID("term_" + rand.Text())
	if t.check != nil {
		if err := t.check(ctx, c); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Unlisted {
		if !slices.Contains(c.Consented, name) {
			return nil, &Error{What: name, Err: ErrEnv}
		}
	}
	if err := ctx.Err(); err != nil { // ctx may have ended while a person decided
		return nil, err
	}
	return t.start(ctx, s, c, dir, outputLimit(req.OutputByteLimit))
}

func outputLimit(asked *uint64) int {
	if asked == nil {
		return defaultOutput
	}
	return int(min(*asked, maxOutput))
}

// start starts a command that the Check has allowed.
func (t *Terminals) start(ctx context.Context, s *session, c *Command, dir *os.Root, limit int) (*terminal, error) {
	term := newTerminal(t, s, c, limit)
	term.view = termview.Of(ctx)
	t.pool.mu.Lock()
	ended := s.ended || t.pool.closed // the session may have ended meanwhile
	if !ended {
		t.pool.running[term] = struct{}{}
	}
	t.pool.mu.Unlock()
	if ended {
		return nil, &Error{What: string(c.Session), Err: files.ErrUnknownSession}
	}
	started := false
	defer func() { // runs even if Exec panics
		if !started {
			term.forget()
		}
	}()
	out := &sink{term: term, hook: t.pool.opts.OnOutput}
	var err error
	if term.process, err = t.exec(ctx, term, c, dir, out); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = ErrNotFound
		}
		return nil, &Error{What: c.Argv[0], Err: err}
	}
	started = true
	term.view(term.update())
	t.pool.mu.Lock()
	if ended = s.ended || t.pool.closed; !ended {
		s.pending--
		s.terminals[term.id] = term
	}
	t.pool.mu.Unlock()
	go term.run(out) // ends when nothing is left of the command
	if ended {
		return nil, &Error{What: string(c.Session), Err: files.ErrUnknownSession}
	}
	return term, nil
}

// exec runs the command of a terminal. If the terminal is stopped first, the command need not
// start.
func (t *Terminals) exec(ctx context.Context, term *terminal, c *Command, dir *os.Root, out *sink) (Process, error) {
	opts := &t.pool.opts
	if opts.Exec == nil {
		p, err := command.Start(c.local(), dir, out, opts.Grace)
		if err != nil {
			return nil, err // not a nil *command.Process in a Process
		}
		return p, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(term.stopped, cancel)()
	p, err := opts.Exec(ctx, c, out)
	if p == nil && err == nil {
		err = errors.New("Options.Exec returned neither a process nor an error")
	}
	return p, err
}
