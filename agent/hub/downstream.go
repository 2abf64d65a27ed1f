package hub

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
)

// downstream is the client of a connection to the agent: what the agent sends goes to the session, and files and
// terminals are those of Options.Host. Ids of the agent mean nothing on another connection: an agent that
// counts its sessions uses them again after a restart.
type downstream struct {
	acp.ClientWrapper
	hub  *Hub
	conn *client.Conn

	// Hub.mu guards the fields below, whose keys are ids of the agent.
	sessions  map[acp.SessionID]*session
	replaying map[acp.SessionID]bool // that are being loaded
	unclaimed unclaimed
}

// client returns the client of a new connection to the agent.
func (h *Hub) client(c *client.Conn) acp.Client {
	var host acp.Client = nothing{}
	if h.opts.Host != nil {
		host = cmp.Or(h.opts.Host(c), host)
	}
	d := &downstream{
		ClientWrapper: acp.ClientWrapper{Client: host}, hub: h, conn: c,
		sessions: make(map[acp.SessionID]*session), replaying: make(map[acp.SessionID]bool),
	}
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
	h.mu.Lock()
	s, replaying := c.sessions[n.SessionID], c.replaying[n.SessionID]
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
