package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/rpcerr"
)

// side is a session at the agent.
type side struct {
	agent   *supervise.Supervisor
	session *supervise.Session
	below   *downstream // on which its id is bound; session.mu guards it
}

var (
	errSameID    = rpcerr.InternalError(nil).WithDetail("the agent gave two sessions the same id")
	errRestarted = fmt.Errorf("hub: the agent was started again meanwhile: %w", acp.ErrClosed)
)

// bind makes id an id of the session, unless it is that of another one, whose clients must not see what the agent
// sends.
func (c *downstream) bind(id acp.SessionID, s *session) bool {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	if other := c.sessions[id]; other != nil && other != s {
		return false
	}
	c.sessions[id] = s
	return true
}

// unbind removes the ids of the session.
func (c *downstream) unbind(s *session) {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	maps.DeleteFunc(c.sessions, func(_ acp.SessionID, other *session) bool { return other == s })
}

// openTime is how long an agent may take to open a session. Later, the prompt that opens it fails and the next one tries
// again: an agent that is slow must not lose its memory of the session to a new one.
const openTime = time.Minute

// openAtAgent opens the session at the agent if it is not open there. It continues the session that the agent
// has, or starts a new one.
func (h *Hub) openAtAgent(ctx context.Context, s *session) (*side, error) {
	if err := s.opening.take(ctx); err != nil {
		return nil, err
	}
	defer s.opening.give()
	agent, _, err := h.running(ctx)
	if err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, openTime)
	defer stop()
	d, err := h.openThere(limited, agent, s)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, rpcerr.InternalError(nil).WithDetail("the agent did not open the session in time: try again").WithCause(err)
	}
	return d, agentError(err)
}

// openThere is openAtAgent while the agent runs. s.opening must be held.
func (h *Hub) openThere(ctx context.Context, agent *supervise.Supervisor, s *session) (*side, error) {
	if d := s.side.Load(); d != nil && d.agent == agent {
		_, err := s.reuse(ctx, d)
		if !errors.Is(err, errSameID) {
			return d, err
		}
		s.side.Store(nil) // it is opened again as another one
	}
	below := h.below.Load()
	s.mu.Lock()
	o := &supervise.SessionOptions{
		ID: s.agentID, Cwd: s.cwd, AdditionalDirectories: s.dirs, MCPServers: s.servers, SystemPrompt: s.system,
		OnUpdate: func(context.Context, acp.SessionUpdate) {}, // SessionUpdate of the client has handled it
	}
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, notFound(s.id)
	}
	if err := h.admit(); err != nil {
		return nil, err
	}
	var lost error
	if o.ID != "" && !below.bind(o.ID, s) { // for what the agent sends before Open returns
		lost, o.ID = errSameID, "" // the agent was restarted since, and counts its sessions
	}
	x, err := agent.Open(ctx, o)
	if err != nil && o.ID != "" && ctx.Err() == nil && !errors.Is(err, acp.ErrClosed) && !errors.Is(err, rpcerr.ErrAuthRequired) {
		lost, o.ID = err, ""
		below.unbind(s)
		x, err = agent.Open(ctx, o)
	}
	if lost != nil {
		h.log.Warn("the agent could not continue a session", "session", string(s.id), "error", lost)
	}
	d := &side{agent: agent, session: x}
	if err == nil {
		_, err = s.reuse(ctx, d)
	}
	if err != nil {
		below.unbind(s)
		if x != nil && !errors.Is(err, errSameID) { // which would close the other session
			s.release(x)
		}
		return nil, err
	}
	return d, nil
}

// reuse waits until a session that is open at the agent can be used, after a restart of the agent too, and returns it on the
// present connection. It tries again to reopen one that could not be reopened.
func (s *session) reuse(ctx context.Context, d *side) (*client.Session, error) {
	for {
		below := s.hub.below.Load()
		current, err := d.session.Current(ctx)
		if err != nil && ctx.Err() == nil {
			if err = d.session.Retry(ctx); err == nil {
				continue
			}
		}
		if err == nil {
			err = s.use(below, d, current)
		}
		if !errors.Is(err, errRestarted) {
			return current, err
		}
	}
}

// use makes a session that is open at the agent that of the clients, if it is not yet so on this connection: it binds its id,
// tells if the agent does not know the conversation, and handles the updates that have come before the id was known.
func (s *session) use(below *downstream, d *side, current *client.Session) error {
	h, id := s.hub, current.ID()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return notFound(s.id)
	case h.below.Load() != below:
		return errRestarted
	case d.below == below:
		return nil
	case !below.bind(id, s):
		return errSameID
	}
	d.below = below
	s.side.Store(d)
	s.ids.restart()
	if (d.session.How() == supervise.HowNew || id != s.agentID) && len(s.history.Items()) > 0 {
		s.say("The agent was started again and does not remember this conversation.")
	}
	s.learn(current)
	if id != s.agentID {
		s.agentID = id
		s.recorder.note(note{Agent: id})
	}
	h.mu.Lock()
	early := below.unclaimed.take(id)
	h.mu.Unlock()
	for _, u := range early {
		s.apply(u)
	}
	return nil
}

// learn keeps the modes and options that the agent has reported. s.mu must be held.
func (s *session) learn(current *client.Session) {
	s.Modes, s.Options = current.Modes(), current.ConfigOptions()
	if s.Modes != nil || s.Options != nil {
		s.recorder.note(note{Settings: &s.settings})
	}
}

// admit makes room for one more session at the agent: it closes the one without a turn in which
// nothing has happened for longest.
func (h *Hub) admit() error {
	there := slices.DeleteFunc(h.open(), func(s *session) bool { return s.side.Load() == nil })
	if len(there) < h.opts.Limits.Agents {
		return nil
	}
	slices.SortFunc(there, func(a, b *session) int { return cmp.Compare(a.updated.Load(), b.updated.Load()) })
	if slices.ContainsFunc(there, (*session).leaveAgent) {
		return nil
	}
	return refused("too many sessions have a turn in progress: try again when one has ended")
}

// leaveAgent closes the session at the agent, unless it is used. Its next prompt opens it again, after that.
func (s *session) leaveAgent() bool {
	select {
	case s.opening <- struct{}{}:
		defer s.opening.give()
	default: // waiting for it could be a deadlock: it may be making room, too
		return false
	}
	if s.info().Running { // what begins now waits for opening
		return false
	}
	return s.closeAtAgent()
}

// closeAtAgent closes the session at the agent. It reports false if it is not open there.
func (s *session) closeAtAgent() bool {
	d := s.side.Swap(nil)
	if d != nil {
		s.release(d.session)
		s.hub.below.Load().unbind(s)
	}
	return d != nil
}

// closeTime is how long an agent may take to close a session.
const closeTime = 10 * time.Second

// release closes a session at the agent. An agent that does not answer in time is not waited for.
func (s *session) release(x *supervise.Session) {
	h := s.hub
	ctx, stop := context.WithTimeout(h.ctx, closeTime)
	defer stop()
	if err := x.Close(ctx); err != nil && h.ctx.Err() == nil && !errors.Is(err, acp.ErrClosed) {
		h.log.Warn("the agent did not close a session", "session", string(s.id), "error", err)
	}
}

// maxUnclaimed is how many bytes of updates are kept of sessions whose ids are not known yet.
const maxUnclaimed = 1 << 20

// unclaimed holds the updates that have come before the response with the id of their session was
// handled. Hub.mu guards it.
type unclaimed struct {
	updates []*acp.SessionNotification
	size    int
}

// add adds an update. It reports false, and drops all, if there are too many: an agent that sends updates of sessions
// which it never opened must not use up the room for good.
func (x *unclaimed) add(n *acp.SessionNotification) bool {
	if x.size += sizeOf(n.Update); x.size > maxUnclaimed {
		*x = unclaimed{}
		return false
	}
	x.updates = append(x.updates, n)
	return true
}

func (x *unclaimed) take(id acp.SessionID) (taken []acp.SessionUpdate) {
	x.updates = slices.DeleteFunc(x.updates, func(n *acp.SessionNotification) bool {
		if n.SessionID == id {
			taken = append(taken, n.Update)
			x.size -= sizeOf(n.Update)
		}
		return n.SessionID == id
	})
	return taken
}
