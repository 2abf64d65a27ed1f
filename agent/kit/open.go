package kit

import (
	"cmp"
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
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
)

// idleTime is the time without a turn after which a session closes its log.
const idleTime = 30 * time.Minute

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
}

// create makes a new session.
func (c *conn) create(ctx context.Context, w where) (*Session, error) {
	if err := c.admits(ctx, w); err != nil {
		return nil, err
	}
	id := "sess_" + strings.ToLower(rand.Text()) // so that journal.Files names its folder by it
	s, _, err := c.begin(ctx, acp.SessionID(id), nil, w)
	return s, err
}

// open opens a stored session.
func (c *conn) open(ctx context.Context, id acp.SessionID, w where) (*Session, *history, error) {
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
func (c *conn) begin(ctx context.Context, id acp.SessionID, log journal.Log, w where) (_ *Session, _ *history, err error) {
	s, err := c.newSession(ctx, id, w)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil && s.idle == nil { // the session is not open
			s.disconnect()
		}
	}()
	h := newHistory()
	if log != nil {
		if err := s.reopen(ctx, log, h, w); err != nil {
			return nil, nil, cmp.Or(ctx.Err(), error(storeError(err)))
		}
	}
	s.restore(h.settings)
	s.recorded = h.system
	s.rules = h.rules
	s.rules.Store = func(ctx context.Context, r tools.Rule) error { return s.store(ctx, record{journal.KindRule, r}) }
	if err := s.equip(ctx); err != nil {
		return nil, nil, err
	}
	if log == nil {
		s.log, err = c.agent.opts.Store.Create(ctx, string(id), journal.Meta{Cwd: w.cwd, AdditionalDirectories: w.dirs, Owner: s.owner})
		if err != nil {
			return nil, nil, storeError(err)
		}
	}
	return s, h, c.attach(s)
}

// reopen reads the history of a stored session, and repairs what a crash has left.
func (s *Session) reopen(ctx context.Context, log journal.Log, h *history, w where) error {
	s.log = log
	err := h.read(ctx, log)
	if i, known := h.index["usage"]; known {
		s.cost = h.items[i].update.(*acp.UsageUpdate).Cost
	}
	if err == nil {
		err = h.repair(ctx, s)
	}
	if m := log.Meta(); err == nil && (m.Cwd != w.cwd || !slices.Equal(m.AdditionalDirectories, w.dirs)) {
		err = log.SetMeta(func(m *journal.Meta) { m.Cwd, m.AdditionalDirectories = w.cwd, w.dirs })
	}
	if err != nil && !errors.Is(err, journal.ErrNewer) { // such a session can still be read
		return err
	}
	for _, d := range log.Damage() {
		s.agent.log.Warn("a part of a session is lost", "session", string(s.id), "damage", d.String())
		s.held = append(s.held, "A part of this session is lost, and the rest was kept: "+d.String())
	}
	return nil
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
		agent: a, conn: c.conn, ending: c.ending, client: c.conn.Session(id), id: id, owner: a.owner(ctx), gone: make(chan struct{}),
		system: w.system, settings: a.offer(ctx), commands: slices.Clone(a.opts.Commands),
	}
	s.out = newOutput(s)
	var err error
	s.roots = append([]string{w.cwd}, w.dirs...)
	if s.workspace, err = workspace.New(c.conn, id, s.roots, a.opts.Workspace); err != nil {
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
		return storeError(&journal.HeldError{ID: string(s.id)})
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
		left := isClosed(s.ending)
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
	log, err := a.opts.Store.Open(ctx, string(id))
	switch {
	case errors.Is(err, journal.ErrNotFound), err != nil && a.foreign(ctx, id):
		return nil, rpcerr.SessionNotFound(string(id))
	case err != nil:
		return nil, cmp.Or(ctx.Err(), error(storeError(err)))
	case log.Meta().Owner != a.owner(ctx):
		return nil, errors.Join(rpcerr.SessionNotFound(string(id)), log.Close())
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

// foreign reports whether the session belongs to another owner. It is called for a session that
// cannot be opened, whose metadata is not known.
func (a *Agent) foreign(ctx context.Context, id acp.SessionID) bool {
	if a.opts.Owner == nil {
		return false
	}
	q := journal.Query{Owner: a.owner(ctx)}
	for {
		page, next, err := a.opts.Store.List(ctx, q)
		if slices.ContainsFunc(page, func(m journal.Meta) bool { return m.ID == string(id) }) {
			return false
		}
		if err != nil || next == "" {
			return true
		}
		q.Cursor = next
	}
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
	if a.foreign(ctx, id) {
		return nil
	}
	if err := a.opts.Store.Delete(ctx, string(id)); err != nil {
		return cmp.Or(ctx.Err(), error(storeError(err)))
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

// drop closes the log and the MCP servers of the session, and removes it from memory.
func (s *Session) drop() {
	s.idle.Stop()
	s.disconnect()
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

// rest closes the log of an idle session. The next use opens it again.
func (s *Session) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logMu.Lock()
	defer s.logMu.Unlock()
	switch idle := time.Since(s.used); {
	case s.log == nil:
	case s.busy != nil:
		s.idle.Reset(idleTime)
	case idle < idleTime: // a caller of journal may be using the log
		s.idle.Reset(idleTime - idle)
	default:
		s.closeLog()
	}
}

// closeLog closes the log if it is open. The caller holds logMu.
func (s *Session) closeLog() {
	if s.log == nil {
		return
	}
	if err := s.log.Close(); err != nil {
		s.agent.log.Warn("the log of a session cannot be closed", "session", string(s.id), "error", err)
	}
	s.log = nil
}
