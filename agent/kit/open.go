package kit

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
)

var (
	errLeft   = errors.New("kit: the connection has ended")
	errClosed = errors.New("kit: the session is closed")
)

// where holds the common params of the requests that open a session.
type where struct {
	cwd     string
	dirs    []string
	servers []acp.MCPServer
	system  *acp.SystemPrompt
	initial []acp.InitialSessionConfigOption
}

func (c *conn) create(ctx context.Context, w where) (*Session, error) {
	if err := c.admits(ctx, w); err != nil {
		return nil, err
	}
	id := "sess_" + strings.ToLower(rand.Text()) // so that journal.Files names its folder by it
	s, _, err := c.begin(ctx, acp.SessionID(id), nil, w)
	return s, err
}

func (c *conn) open(ctx context.Context, id acp.SessionID, w where) (*Session, *restored, error) {
	if err := c.admits(ctx, w); err != nil {
		return nil, nil, err
	}
	log, err := c.take(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	s, h, err := c.begin(ctx, id, log, w)
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return s, h, nil
}

// begin opens the session that the log stores, or a new one if log is nil.
func (c *conn) begin(ctx context.Context, id acp.SessionID, log journal.Log, w where) (_ *Session, _ *restored, err error) {
	s, err := c.newSession(ctx, id, w)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil && s.idle == nil { // the session is not open
			s.leave()
		}
	}()
	s.rules = &tools.Rules{Store: func(ctx context.Context, r tools.Rule) error { return s.store(ctx, record{journal.KindRule, r}) }}
	var h *restored
	if log != nil {
		h, err = s.catchUp(ctx, log)
		if m := log.Meta(); err == nil && (m.Cwd != w.cwd || !slices.Equal(m.AdditionalDirectories, w.dirs)) {
			err = log.SetMeta(func(m *journal.Meta) { m.Cwd, m.AdditionalDirectories = w.cwd, w.dirs })
		}
		if err != nil && !errors.Is(err, journal.ErrNewer) { // such a session can still be read
			return nil, nil, history.Failed(ctx, err)
		}
		s.log = log
	}
	chosen := s.choose(w.initial)
	if err := s.equip(ctx); err != nil {
		return nil, nil, err
	}
	if log == nil {
		s.log, err = c.agent.opts.Store.Create(ctx, string(id), journal.Meta{Cwd: w.cwd, AdditionalDirectories: w.dirs, Owner: s.owner})
		if err != nil {
			return nil, nil, history.Failed(ctx, err)
		}
		s.opened = 1
	}
	if len(chosen) > 0 {
		if err := s.store(ctx, chosen...); err != nil && !errors.Is(err, journal.ErrNewer) { // such a session can only be read
			return nil, nil, err
		}
	}
	return s, h, c.attach(s)
}

func (s *Session) tellDamage(log journal.Log) {
	for _, d := range log.Damage() {
		s.agent.log.Warn("a part of a session is lost", "session", string(s.id), "damage", d.String())
		s.mu.Lock()
		s.held = append(s.held, "A part of this session is lost, and the rest was kept: "+d.String())
		s.mu.Unlock()
	}
}

// admits returns an error if no session can be opened now, or not with these params.
func (c *conn) admits(ctx context.Context, w where) error {
	if err := c.agent.opts.Auth.ready(ctx); err != nil {
		return err
	}
	if len(w.system.Text()) > maxText {
		return refused("a system prompt may have %d MiB", maxText>>20)
	}
	return nil
}

// newSession returns a session that is not open yet.
func (c *conn) newSession(ctx context.Context, id acp.SessionID, w where) (*Session, error) {
	a := c.agent
	s := &Session{
		agent: a, conn: c.conn, client: c.conn.Session(id), id: id, owner: a.owner(ctx), gone: make(chan struct{}),
		system: w.system, settings: a.offer(ctx), values: make(map[string]string), commands: slices.Clone(a.opts.Commands),
	}
	s.out = newOutput(s)
	s.apply(nil)
	var err error
	s.roots = append([]string{w.cwd}, w.dirs...)
	if s.workspace, err = workspace.Open(c.conn, id, s.roots, a.opts.Workspace); err != nil {
		return nil, err
	}
	return s, s.connect(w.cwd, w.servers)
}

// equip sets the tools of the session. The settings must be set before.
func (s *Session) equip(ctx context.Context) error {
	if f := s.agent.opts.Tools; f != nil {
		if err := panics.Guard(func() error { s.own = f(s); return nil }); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	return s.refreshTools(ctx)
}

// attach adds the session to the open sessions of its connection.
func (c *conn) attach(s *Session) error {
	a := c.agent
	s.idle = time.AfterFunc(idleTime, s.rest) // ends at once
	a.mu.Lock()
	closing, taken := a.closing, a.sessions[s.id] != nil
	if !taken {
		a.sessions[s.id] = s
	}
	a.mu.Unlock()
	switch {
	case taken: // another request has opened it at the same time
		s.abandon(errClosed)
		return history.StoreError(&journal.HeldError{ID: string(s.id)})
	case closing:
		s.abandon(errClosing)
		return rpcerr.InternalError(nil).WithDetail("the agent is shutting down")
	case isClosed(c.conn.Done()): // endAll may already have run
		s.abandon(errLeft)
		return acp.ErrClosed
	}
	return nil
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// take opens the log of a stored session that no other connection has open. If the session is open
// on this one, it is closed first.
func (c *conn) take(ctx context.Context, id acp.SessionID) (journal.Log, error) {
	a := c.agent
	for {
		s := a.find(id)
		if s == nil {
			break
		}
		left := isClosed(s.conn.Ending())
		switch {
		case s.owner != a.owner(ctx):
			return nil, rpcerr.SessionNotFound(string(id))
		case s.conn != c.conn && !left:
			return nil, rpcerr.InvalidRequest(nil).WithDetail("this session is open on another connection: close it there")
		case !left && s.running():
			return nil, rpcerr.InvalidRequest(nil).WithDetail("a turn of this session is running: wait for its end, or cancel it")
		}
		if err := s.end(ctx, errClosed); err != nil {
			return nil, err
		}
	}
	return a.openLog(ctx, id)
}

// openLog opens the log of a stored session that belongs to the user of ctx.
func (a *Agent) openLog(ctx context.Context, id acp.SessionID) (journal.Log, error) {
	if err := a.owns(ctx, id); err != nil {
		return nil, err
	}
	log, err := a.opts.Store.Open(ctx, string(id))
	if errors.Is(err, journal.ErrNotFound) { // deleted meanwhile
		return nil, rpcerr.SessionNotFound(string(id)).WithCause(err)
	} else if err != nil {
		return nil, history.Failed(ctx, err)
	}
	return log, nil
}

func (a *Agent) find(id acp.SessionID) *Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

func (a *Agent) owner(ctx context.Context) string {
	if a.opts.Owner == nil {
		return ""
	}
	return a.opts.Owner(ctx)
}

// owns returns an error unless the session exists and belongs to the user of ctx. The log of another
// user's session is not opened.
func (a *Agent) owns(ctx context.Context, id acp.SessionID) error {
	m, err := a.opts.Store.Meta(ctx, string(id))
	if errors.Is(err, journal.ErrNotFound) || m.Owner != a.owner(ctx) {
		return rpcerr.SessionNotFound(string(id)).WithCause(err)
	} else if err != nil {
		return history.Failed(ctx, err)
	}
	return nil
}

// session returns a session that is open on this connection.
func (c *conn) session(ctx context.Context, id acp.SessionID) (*Session, error) {
	s := c.agent.find(id)
	if s == nil || s.conn != c.conn || s.owner != c.agent.owner(ctx) {
		return nil, rpcerr.SessionNotFound(string(id))
	}
	return s, nil
}

// close closes a session. It returns nil if the session is not open.
func (c *conn) close(ctx context.Context, id acp.SessionID) error {
	s, err := c.session(ctx, id)
	if err != nil {
		return nil
	}
	return s.end(ctx, errClosed)
}

// delete deletes a session. It returns nil if there is no such session.
func (c *conn) delete(ctx context.Context, id acp.SessionID) error {
	if err := c.close(ctx, id); err != nil {
		return err
	}
	a := c.agent
	if err := a.owns(ctx, id); errors.Is(err, rpcerr.ErrSessionNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	if err := a.opts.Store.Delete(ctx, string(id)); err != nil {
		return history.Failed(ctx, err)
	}
	return nil
}

// endAll ends the sessions of a connection, or all sessions if conn is nil. It does not wait.
func (a *Agent) endAll(conn *agent.Conn, cause error) (all []*Session) {
	a.mu.Lock()
	for _, s := range a.sessions {
		if conn == nil || s.conn == conn {
			all = append(all, s)
		}
	}
	a.mu.Unlock()
	for _, s := range all {
		s.abandon(cause)
	}
	return all
}

func (s *Session) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy != nil
}

// abandon ends the running turn, and then the session. It waits for neither.
func (s *Session) abandon(cause error) {
	s.mu.Lock()
	first := s.over == nil
	if first {
		s.over = cause
	}
	cancel := s.busy
	s.mu.Unlock()
	if cancel != nil {
		cancel(cause) // finish then drops the session
	} else if first {
		s.drop()
	}
}

// end ends the running turn and the session, and waits until it has left memory.
func (s *Session) end(ctx context.Context, cause error) error {
	s.abandon(cause)
	select {
	case <-s.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drop closes the log of the session and what it has opened, and removes it from memory.
func (s *Session) drop() {
	s.idle.Stop()
	s.leave()
	s.out.pay() // what could not be stored
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.closeLog()
	s.agent.mu.Lock()
	if s.agent.sessions[s.id] == s {
		delete(s.agent.sessions, s.id)
	}
	s.agent.mu.Unlock()
	close(s.gone)
}
