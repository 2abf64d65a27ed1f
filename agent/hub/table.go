package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/internal/wire"
)

// token is a lock that can be waited for until a ctx is done. Its capacity is 1.
type token chan struct{}

func (t token) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t token) give() { <-t }

// do runs f on a goroutine that Shutdown waits for. It reports false, and does not run f, if the hub has
// ended.
func (h *Hub) do(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.work.Go(f)
	return true
}

// get returns the session with an id. If it is not open, it calls open, which makes or opens it. A session is opened and
// closed by one at a time.
func (h *Hub) get(ctx context.Context, id acp.SessionID, open func(context.Context, acp.SessionID) (*session, error)) (*session, error) {
	h.mu.Lock()
	for h.busy[id] != nil {
		busy := h.busy[id]
		h.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		h.mu.Lock()
	}
	s, err := h.sessions[id], error(nil)
	switch {
	case s != nil:
	case h.closing:
		err = errShutdown
	case len(h.sessions)+len(h.busy) >= h.opts.Limits.Sessions:
		err = refused("too many sessions are open: close one that is not used")
	default:
		done := h.occupy(id)
		h.mu.Unlock()
		s, err = open(ctx, id)
		done(s)
		return s, err
	}
	h.mu.Unlock()
	return s, err
}

// occupy takes a session out of the table, so that nobody else opens it until done is called: with the session if it is open
// then. h.mu must be held.
func (h *Hub) occupy(id acp.SessionID) (done func(*session)) {
	busy := make(chan struct{})
	delete(h.sessions, id)
	h.busy[id] = busy
	return func(s *session) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if s != nil {
			h.sessions[id] = s
		}
		delete(h.busy, id)
		close(busy)
	}
}

// stored describes a session that is not open.
func stored(m journal.Meta) Info {
	return Info{ID: acp.SessionID(m.ID), Owner: m.Owner, Cwd: m.Cwd, AdditionalDirectories: m.AdditionalDirectories, Title: m.Title, Updated: m.Updated}
}

// newSession returns a session that is not in the table.
func (h *Hub) newSession(id acp.SessionID, log journal.Log) *session {
	m := log.Meta()
	s := &session{
		hub: h, id: id, owner: m.Owner, cwd: m.Cwd, dirs: m.AdditionalDirectories, title: m.Title,
		log: log, opening: make(token, 1),
	}
	s.updated.Store(m.Updated.UnixMicro())
	s.summarize()
	s.recorder = recorder{session: s, title: m.Title}
	s.recorder.open = history.NewOpen(&s.mu, func(u acp.SessionUpdate) { s.recorder.record(journal.KindEvent, u) })
	return s
}

// create makes a new session: at the agent and in the store.
func (h *Hub) create(ctx context.Context, principal string, req *acp.NewSessionRequest) (*session, error) {
	id := acp.SessionID("sess_" + strings.ToLower(rand.Text())) // so that journal.Files names its folder by it
	s, err := h.get(ctx, id, func(ctx context.Context, id acp.SessionID) (*session, error) {
		log, err := h.opts.Store.Create(ctx, string(id), journal.Meta{Cwd: wire.TrimPath(req.Cwd), AdditionalDirectories: req.AdditionalDirectories, Owner: principal})
		if err != nil {
			return nil, history.Failed(ctx, err)
		}
		s := h.newSession(id, log)
		s.servers, s.system = req.MCPServers, req.SystemPrompt
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	if _, err = h.openAtAgent(ctx, s); err != nil {
		return nil, errors.Join(err, s.shut(nil), h.opts.Store.Delete(context.WithoutCancel(ctx), string(id)))
	}
	return s, nil
}

// reopen opens a stored session, and repairs what a crash has left. It does not start the agent.
func (h *Hub) reopen(ctx context.Context, id acp.SessionID) (*session, error) {
	log, err := h.opts.Store.Open(ctx, string(id))
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, notFound(id)
	case err != nil:
		return nil, history.Failed(ctx, err)
	}
	s := h.newSession(id, log)
	s.mu.Lock()
	defer s.mu.Unlock()
	for rec, err := range log.Read(ctx, 0) {
		if err == nil {
			err = s.restore(rec)
		}
		if err != nil {
			return nil, errors.Join(history.Failed(ctx, err), log.Close())
		}
	}
	for _, d := range log.Damage() {
		h.log.Warn("a part of a session is lost", "session", string(id), "damage", d.String())
		s.say("A part of this session is lost, and the rest was kept: " + d.String())
	}
	if s.history.Unended() {
		s.endCalls()
		s.recorder.turn(history.Turn{State: history.Interrupted})
		s.history.Turn()
	}
	if s.closed { // what was repaired could not be stored
		return nil, history.StoreError(s.recorder.err)
	}
	return s, nil
}

// delete deletes a session: in the store, and at the agent if the agent can do that.
func (h *Hub) delete(ctx context.Context, id acp.SessionID) error {
	var agentID acp.SessionID
	s, err := h.get(ctx, id, h.reopen)
	if err == nil {
		s.cancel("", everyPrompt)
		if err := s.awaitIdle(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		agentID = s.agentID
		s.mu.Unlock()
		err = s.shut(nil)
	}
	if err != nil { // the store decides whether what cannot be opened can be deleted
		h.log.Warn("a session is deleted without being opened and closed first", "session", string(id), "error", err)
	}
	if err := h.opts.Store.Delete(ctx, string(id)); err != nil {
		return history.Failed(ctx, err)
	}
	if below := h.below.Load(); below != nil && agentID != "" && below.conn.AgentCapabilities().Has("sessionCapabilities.delete") {
		if _, err := below.conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: agentID}); err != nil {
			h.log.Debug("the agent did not delete a session", "error", err)
		}
	}
	return nil
}
