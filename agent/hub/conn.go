package hub

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/rpcerr"
)

// conn is the agent of one connection to a client.
type conn struct {
	hub  *Hub
	conn *agent.Conn
	as   *string         // the principal that another hub has named; nil for a client of this one
	ctx  context.Context // ends with the connection, when ended is called
	end  context.CancelFunc

	reaching sync.Mutex              // held while a route is made; guards routes
	routes   map[string]*client.Conn // to other hubs, by holder; they end with ctx

	mu       sync.Mutex // guards the fields below; session.mu may be held
	why      error      // why the hub has ended the connection: ErrSlow or ErrLost
	attached map[acp.SessionID]*attachment
	gone     map[acp.SessionID]*client.Conn // the sessions that it has opened at other hubs
}

func (h *Hub) connect(a *agent.Conn, as *string) *conn {
	c := &conn{hub: h, conn: a, as: as, attached: make(map[acp.SessionID]*attachment),
		routes: make(map[string]*client.Conn), gone: make(map[acp.SessionID]*client.Conn)}
	c.ctx, c.end = context.WithCancel(h.ctx)
	h.mu.Lock()
	h.conns[c] = struct{}{}
	h.mu.Unlock()
	a.OnEnd(c.ended)
	return c
}

// ended detaches the client from its sessions, here and at other hubs.
func (c *conn) ended() {
	c.hub.mu.Lock()
	delete(c.hub.conns, c)
	c.hub.mu.Unlock()
	c.mu.Lock()
	c.end()
	all := slices.Collect(maps.Values(c.attached))
	c.mu.Unlock()
	for _, a := range all {
		a.session.detach(a)
	}
}

func (c *conn) principal(ctx context.Context) (string, error) {
	if c.as != nil {
		return *c.as, nil
	}
	if f := c.hub.opts.Principal; f != nil {
		return f(ctx)
	}
	return "", nil
}

// Initialize returns what the agent can do, less what the hub takes away, and what the hub adds.
func (c *conn) Initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	if _, err := c.principal(ctx); err != nil {
		return nil, err
	}
	_, below, err := c.hub.running(ctx)
	if err != nil {
		return nil, err
	}
	caps := agent.Capabilities(c)
	if of := below.AgentCapabilities(); of != nil {
		caps.PromptCapabilities = of.PromptCapabilities
		if of.MCPCapabilities != nil {
			caps.MCPCapabilities = &acp.MCPCapabilities{HTTP: of.MCPCapabilities.HTTP, SSE: of.MCPCapabilities.SSE}
		}
		if of.SessionCapabilities != nil {
			caps.SessionCapabilities.AdditionalDirectories = of.SessionCapabilities.AdditionalDirectories
		}
		if !of.Has("sessionCapabilities.systemPrompt") {
			caps.SessionCapabilities.SystemPrompt = nil
		}
	}
	res := &acp.InitializeResponse{AgentCapabilities: caps, AgentInfo: below.PeerInfo()}
	for _, m := range below.AuthMethods() {
		if _, ok := m.(*acp.AuthMethodAgent); ok { // others need a terminal of this machine
			res.AuthMethods = append(res.AuthMethods, m)
		}
	}
	return res, nil
}

func (c *conn) Authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	_, below, err := c.hub.running(ctx)
	if err != nil {
		return nil, err
	}
	return below.Authenticate(ctx, req)
}

func (c *conn) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	principal, err := c.principal(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	err = c.hasRoom() // before the agent opens a session
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s, err := c.hub.create(ctx, principal, req)
	if err != nil {
		return nil, err
	}
	a, now, err := c.hub.attach(ctx, s.id, principal, Control, c)
	if err != nil {
		return nil, err
	}
	agent.AfterResponse(ctx, a.start)
	return &acp.NewSessionResponse{SessionID: s.id, Modes: now.Modes, ConfigOptions: now.Options}, nil
}

func (c *conn) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return at(ctx, c, req.SessionID, req, (*client.Conn).LoadSession, func() (*acp.LoadSessionResponse, error) { return c.open(ctx, req, true) })
}

func (c *conn) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return at(ctx, c, req.SessionID, req, (*client.Conn).ResumeSession, func() (*acp.ResumeSessionResponse, error) {
		res, err := c.open(ctx, &acp.LoadSessionRequest{SessionID: req.SessionID, Cwd: req.Cwd, MCPServers: req.MCPServers, SystemPrompt: req.SystemPrompt}, false)
		return (*acp.ResumeSessionResponse)(res), err
	})
}

// open attaches the client to a session that exists, and sends it what has happened, or what is still open of it. What
// happens from then on is sent after the response.
func (c *conn) open(ctx context.Context, req *acp.LoadSessionRequest, all bool) (*acp.LoadSessionResponse, error) {
	principal, role, _, err := c.allowed(ctx, req.SessionID)
	if err != nil {
		return nil, err
	}
	a, now, err := c.hub.attach(ctx, req.SessionID, principal, role, c)
	if err != nil {
		return nil, err
	}
	a.session.offer(req, role)
	if a.send(ctx, now.events(all)); a.ctx.Err() != nil {
		return nil, cmp.Or[error](ctx.Err(), refused("the session was closed or loaded again on this connection"))
	}
	agent.AfterResponse(ctx, a.start)
	return &acp.LoadSessionResponse{Modes: now.Modes, ConfigOptions: now.Options}, nil
}

// allowed returns what the client may do with a session, and what is stored of it. It does not open its log, which would keep
// another process out. A session with which the client may do nothing does not exist.
func (c *conn) allowed(ctx context.Context, id acp.SessionID) (principal string, role Role, info Info, err error) {
	if principal, err = c.principal(ctx); err != nil {
		return principal, role, info, err
	}
	m, err := c.hub.opts.Store.Meta(ctx, string(id))
	if errors.Is(err, journal.ErrNotFound) {
		return principal, role, info, notFound(id)
	}
	info = stored(m)
	role = c.hub.role(ctx, principal, info)
	switch {
	case role == None: // also if the owner cannot be read
		err = notFound(id)
	case err != nil:
		err = history.Failed(ctx, err)
	}
	return principal, role, info, err
}

func (c *conn) ListSessions(ctx context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	principal, err := c.principal(ctx)
	if err != nil {
		return nil, err
	}
	h, owner := c.hub, ""
	if h.opts.Access == nil {
		owner = principal
	}
	return history.List(ctx, h.opts.Store, owner, req, func(m journal.Meta) bool { return h.role(ctx, principal, stored(m)) != None })
}

// CloseSession detaches the client. The session remains open for the others.
func (c *conn) CloseSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	if r := c.away(req.SessionID); r != nil {
		c.moved(req.SessionID, nil)
		res, err := r.CloseSession(ctx, req)
		return res, awayError(err)
	}
	c.mu.Lock()
	a := c.attached[req.SessionID]
	c.mu.Unlock()
	if a == nil {
		return &acp.CloseSessionResponse{}, nil
	}
	a.session.cancel(a.principal, func(p *prompt) bool { return p.from == a && !p.runs() })
	a.session.detach(a)
	a.send(ctx, nil) // waits until what is being sent was sent
	return &acp.CloseSessionResponse{}, ctx.Err()
}

// DeleteSession deletes a session for all. Only its creator may.
func (c *conn) DeleteSession(ctx context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	res := &acp.DeleteSessionResponse{}
	principal, _, stored, err := c.allowed(ctx, req.SessionID)
	switch {
	case errors.Is(err, rpcerr.ErrSessionNotFound):
		return res, nil
	case err != nil:
		return nil, err
	case stored.Owner != principal:
		return nil, refused("only the creator of a session may delete it")
	}
	defer c.moved(req.SessionID, nil)
	return at(ctx, c, req.SessionID, req, (*client.Conn).DeleteSession, func() (*acp.DeleteSessionResponse, error) {
		return res, c.hub.delete(ctx, req.SessionID)
	})
}

// AppliesSystemPrompt implements acp.SystemPromptApplier: the agent applies it. What the agent does not
// advertise is not advertised either.
func (c *conn) AppliesSystemPrompt(acp.SystemPromptMode) bool { return true }
