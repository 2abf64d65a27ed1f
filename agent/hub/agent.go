package hub

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Start starts the agent and waits for its handshake, so that an agent that does not work is known
// before the first client comes. It does nothing if the agent runs.
func (h *Hub) Start(ctx context.Context) error {
	_, err := h.supervisor(ctx)
	return err
}

// supervisor returns the agent. It starts it if there is none, or if the last one was given up.
func (h *Hub) supervisor(ctx context.Context) (*supervise.Supervisor, error) {
	if err := h.starting.take(ctx); err != nil {
		return nil, err
	}
	defer h.starting.give()
	h.mu.Lock()
	running, closing := h.agent, h.closing
	h.mu.Unlock()
	if closing {
		return nil, errShutdown
	}
	if running != nil {
		return running, nil
	}
	s := supervise.New(h.agentOptions())
	if err := s.Start(h.ctx); err != nil {
		_ = s.Close()
		_ = s.Wait() // Start has returned why
		return nil, err
	}
	h.mu.Lock()
	h.agent = s
	h.mu.Unlock()
	h.do(func() { h.ended(s.Wait()) }) // ends with the Supervisor, which h.ctx ends
	return s, nil
}

// running returns the agent and the connection to it. It waits while the agent is being started again. The error is for a
// client.
func (h *Hub) running(ctx context.Context) (*supervise.Supervisor, *client.Conn, error) {
	s, err := h.supervisor(ctx)
	if err == nil {
		var below *client.Conn
		if below, err = s.Conn(ctx); err == nil {
			return s, below, nil
		}
	}
	if _, ok := errors.AsType[*rpcerr.RequestError](err); ok || ctx.Err() != nil {
		return nil, nil, err
	}
	h.log.Error("the agent could not be started", "error", err)
	return nil, nil, rpcerr.InternalError(nil).WithDetail("the agent could not be started: the log of the hub says why").WithCause(err)
}

// ended forgets an agent that has failed too often: the next prompt starts another one.
func (h *Hub) ended(err error) {
	h.mu.Lock()
	h.agent = nil
	h.mu.Unlock()
	if err != nil && h.ctx.Err() == nil {
		h.log.Error("the agent failed too often, and is started again for the next prompt", "error", err)
	}
}

func (h *Hub) agentOptions() *supervise.Options {
	o := h.opts.Agent
	user := endpoint.ValueOf(o.Conn)
	user.Logger = cmp.Or(user.Logger, h.log)
	user.CancelGrace = cmp.Or(user.CancelGrace, math.MaxInt64) // a turn ends when the agent says so
	user.Sending = append(slices.Clone(user.Sending), h.sending)
	o.Conn = &user
	o.Handshake = cmp.Or(o.Handshake, handshakeTime)
	o.Client = h.client
	down := o.OnDown
	o.OnDown = func(d supervise.Down) {
		h.log.Warn("the agent has ended", "error", d.Err)
		if down != nil {
			down(d)
		}
	}
	o.OnReturn = h.returned
	return &o
}

// handshakeTime is how long an agent may take to start, unless Options.Agent says otherwise: clients wait for it.
const handshakeTime = 10 * time.Second

// sending marks the sessions whose history the agent is replaying. All of the replay has been
// handled when the call returns, and nothing that the agent sends later.
func (h *Hub) sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if req, ok := params.(*acp.LoadSessionRequest); ok {
			below := h.below.Load()
			below.replaying.Store(req.SessionID, true)
			defer below.replaying.Delete(req.SessionID)
		}
		return next(ctx, method, params)
	}
}

// returned handles that the agent was started again and a session reopened, or not.
func (h *Hub) returned(r supervise.Return) {
	for _, s := range h.open() {
		if d := s.side.Load(); d == nil || d.session != r.Session {
			continue
		}
		if err := cmp.Or(r.Err, r.Lost); err != nil {
			h.log.Warn("a session could not be continued at the agent", "session", string(s.id), "error", err)
		}
		if r.Err != nil { // its next prompt tries again
			return
		}
		h.do(func() { // ends when the session can be used, or with the agent
			if _, err := h.openAtAgent(h.ctx, s); err != nil {
				h.log.Warn("a session cannot be used yet", "session", string(s.id), "error", err)
			}
		})
	}
}

// downstream is the client of a connection to the agent: what the agent sends goes to the session, and files and
// terminals are those of Options.Host. Ids of the agent mean nothing on another connection: an agent that
// counts its sessions uses them again after a restart.
type downstream struct {
	acp.ClientWrapper
	hub  *Hub
	conn *client.Conn

	replaying sync.Map // the ids of the sessions that are being loaded

	// Hub.mu guards the fields below, whose keys are ids of the agent.
	sessions  map[acp.SessionID]*session
	unclaimed unclaimed
}

// client returns the client of a new connection to the agent.
func (h *Hub) client(c *client.Conn) acp.Client {
	var host acp.Client = nothing{}
	if h.opts.Host != nil {
		host = cmp.Or(h.opts.Host(c), host)
	}
	d := &downstream{ClientWrapper: acp.ClientWrapper{Client: host}, hub: h, conn: c, sessions: make(map[acp.SessionID]*session)}
	h.below.Store(d)
	return d
}

// nothing is a client without files and terminals. downstream has the methods that each client has.
type nothing struct{ acp.Client }

// Handles implements acp.Selective.
func (c *downstream) Handles(method string) bool {
	return method == acp.MethodElicitationCreate || method == acp.MethodElicitationComplete || c.ClientWrapper.Handles(method)
}

// find returns the session with an id of the agent.
func (c *downstream) find(id acp.SessionID) (*session, error) {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		return nil, rpcerr.SessionNotFound(string(id))
	}
	return s, nil
}

func (c *downstream) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	h := c.hub
	_, replaying := c.replaying.Load(n.SessionID)
	h.mu.Lock()
	s := c.sessions[n.SessionID]
	kept := s != nil || replaying || c.unclaimed.add(n)
	h.mu.Unlock()
	switch {
	case !kept:
		h.log.Warn("updates of unknown sessions are dropped")
	case replaying: // the hub knows the history, and the agent may have lost a part of it
	case s != nil:
		s.update(n.Update)
	}
	return nil
}

func (c *downstream) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	s, err := c.find(req.SessionID)
	if err != nil {
		return nil, err
	}
	seen := *req
	seen.SessionID = s.id
	s.mu.Lock()
	seen.ToolCall.ToolCallID = s.ids.call(req.ToolCall.ToolCallID)
	s.mu.Unlock()
	return put[acp.RequestPermissionResponse](ctx, s, c.conn.Ending(), &question{permission: &seen})
}

func (c *downstream) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	seen, scope := copied(req)
	of, ok := (*scope).(*acp.ElicitationSessionScope)
	if !ok { // of a request: which client made it is not known to the agent
		c.hub.log.Warn("a form that belongs to no session is cancelled")
		return &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}, nil
	}
	s, err := c.find(of.SessionID)
	if err != nil {
		return nil, err
	}
	own := &acp.ElicitationSessionScope{SessionID: s.id}
	if of.ToolCallID != "" {
		s.mu.Lock()
		own.ToolCallID = s.ids.call(of.ToolCallID)
		s.mu.Unlock()
	}
	*scope = own
	return put[acp.CreateElicitationResponse](ctx, s, c.conn.Ending(), &question{form: seen})
}

// CompleteElicitation tells every client: only those that show the page know the id.
func (c *downstream) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	c.hub.mu.Lock()
	conns := slices.Collect(maps.Keys(c.hub.conns))
	c.hub.mu.Unlock()
	for _, conn := range conns {
		_ = c.hub.do(func() { _ = conn.conn.CompleteElicitation(context.WithoutCancel(ctx), n) }) // ends when it is queued; a client without web pages gets nothing
	}
	return nil
}

// copied returns a copy of a request, and the scope of the copy.
func copied(req *acp.CreateElicitationRequest) (seen *acp.CreateElicitationRequest, scope *acp.ElicitationScope) {
	seen, scope = new(*req), new(acp.ElicitationScope)
	switch m := req.Mode.(type) {
	case *acp.ElicitationFormMode:
		m = new(*m)
		seen.Mode, scope = m, &m.Scope
	case *acp.ElicitationURLMode:
		m = new(*m)
		seen.Mode, scope = m, &m.Scope
	}
	return seen, scope
}
