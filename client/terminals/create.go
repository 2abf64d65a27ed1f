package terminals

import (
	"context"
	"crypto/rand"
	"errors"
	"os"

	"github.com/acpkit/go-sdk/acp"
)

// CreateTerminal runs a command.
//
// Protocol: terminal/create.
func (t *Terminals) CreateTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	s, err := t.reserve(req.SessionID)
	if err != nil {
		return nil, err
	}
	made := false
	defer func() { // also when a Check or Exec panics
		if !made {
			t.mu.Lock()
			defer t.mu.Unlock()
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

// reserve makes room for another terminal.
func (t *Terminals) reserve(id acp.SessionID) (*session, error) {
	known := false
	if t.conn != nil {
		_, known = t.conn.SessionRoots(id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !known || t.over {
		return nil, &Error{What: string(id), Err: ErrUnknownSession}
	}
	s := t.sessions[id]
	if s == nil {
		s = &session{terminals: map[acp.TerminalID]*terminal{}, released: map[*terminal]struct{}{}}
		t.sessions[id] = s
	}
	if s.pending+len(s.terminals)+len(s.released) >= t.pool.opts.PerSession {
		return nil, &Error{What: string(id), Err: ErrTooMany}
	}
	s.pending++
	return s, nil
}

func (t *Terminals) create(ctx context.Context, s *session, req *acp.CreateTerminalRequest) (*terminal, error) {
	dir, cwd, err := t.pool.folders.OpenFolder(t.conn, req.SessionID, req.Cwd)
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
	if name, ok := c.withoutConsent(); ok {
		return nil, &Error{What: name, Err: ErrEnv}
	}
	if err := ctx.Err(); err != nil { // a person may have thought for long
		return nil, err
	}
	return t.start(ctx, s, c, dir, outputLimit(opts, req.OutputByteLimit))
}

func outputLimit(o *Options, asked *uint64) int {
	if asked == nil {
		return o.Output
	}
	return int(min(*asked, uint64(o.MaxOutput)))
}

// start starts a command that was judged.
func (t *Terminals) start(ctx context.Context, s *session, c *Command, dir *os.Root, limit int) (*terminal, error) {
	t.starting.RLock()
	defer t.starting.RUnlock()
	t.mu.Lock()
	ended := s.ended
	t.mu.Unlock()
	if ended { // meanwhile
		return nil, &Error{What: string(c.Session), Err: ErrUnknownSession}
	}
	opts := &t.pool.opts
	term := newTerminal(c, opts.Grace, limit)
	var err error
	sink := &sink{term: term, hook: opts.OnOutput}
	if opts.Exec != nil {
		term.process, err = opts.Exec(ctx, c, sink)
		if term.process == nil && err == nil {
			err = errors.New("Options.Exec returned neither a process nor an error")
		}
	} else {
		term.process, err = startLocal(c, dir, sink, opts.Grace)
	}
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &Error{What: c.Argv[0], Err: ErrNotFound}
		}
		return nil, &Error{What: c.Argv[0], Err: err}
	}
	t.mu.Lock()
	s.pending--
	s.terminals[term.id] = term
	t.mu.Unlock()
	go func() { // ends when nothing is left of the command
		term.run()
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(s.released, term)
	}()
	return term, nil
}
