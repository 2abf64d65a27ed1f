package hub

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
)

// controlled returns the attachment of the client to a session that it controls.
func (c *conn) controlled(ctx context.Context, id acp.SessionID) (*attachment, error) {
	c.mu.Lock()
	a := c.attached[id]
	c.mu.Unlock()
	if a == nil {
		if _, _, _, err := c.allowed(ctx, id); err != nil {
			return nil, err
		}
		return nil, refused("this connection has not opened the session: load or resume it first")
	}
	switch c.hub.role(ctx, a.principal, a.session.info()) {
	case None:
		return nil, notFound(id)
	case Observe:
		return nil, refused("you may only observe this session")
	}
	return a, nil
}

func (c *conn) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	return use(ctx, c, req.SessionID, req, c.promptAway, func(a *attachment) (*acp.PromptResponse, error) {
		p, err := a.session.enqueue(ctx, a, req.Prompt)
		if err != nil {
			return nil, err
		}
		return p.wait(ctx, c.conn.Ending())
	})
}

func (c *conn) Cancel(ctx context.Context, n *acp.CancelNotification) error {
	if r := c.away(n.SessionID); r != nil {
		return r.Cancel(ctx, n)
	}
	if a, err := c.controlled(ctx, n.SessionID); err == nil { // otherwise there is nothing of the client to cancel
		a.session.cancel(a.principal, a.cancels)
	}
	return nil
}

func (c *conn) SetSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return use(ctx, c, req.SessionID, req, (*client.Conn).SetSessionMode, func(a *attachment) (*acp.SetSessionModeResponse, error) {
		_, err := a.change(ctx, func(x *supervise.Session) error { return x.SetMode(ctx, req.ModeID) },
			func() acp.SessionUpdate { return &acp.CurrentModeUpdate{CurrentModeID: req.ModeID} })
		return &acp.SetSessionModeResponse{}, err
	})
}

func (c *conn) SetSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	return use(ctx, c, req.SessionID, req, (*client.Conn).SetSessionConfigOption, func(a *attachment) (*acp.SetSessionConfigOptionResponse, error) {
		options, err := a.change(ctx, func(x *supervise.Session) error { return setOption(ctx, x, req) },
			func() acp.SessionUpdate { return &acp.ConfigOptionUpdate{ConfigOptions: a.session.Options} })
		return &acp.SetSessionConfigOptionResponse{ConfigOptions: options}, err
	})
}

// change changes a setting at the agent and tells the other clients.
func (a *attachment) change(ctx context.Context, set func(*supervise.Session) error, told func() acp.SessionUpdate) ([]acp.SessionConfigOption, error) {
	s := a.session
	d, err := s.hub.openAtAgent(ctx, s)
	if err == nil {
		err = set(d.session)
	}
	var current *client.Session
	if err == nil {
		current, err = d.session.Current(ctx)
	}
	if err != nil {
		return nil, agentError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learn(current)
	s.tell(told(), a)
	return s.Options, nil
}

func setOption(ctx context.Context, at *supervise.Session, req *acp.SetSessionConfigOptionRequest) error {
	switch v := req.Value.(type) {
	case *acp.SessionConfigValue:
		return at.SetConfigOption(ctx, req.ConfigID, v.Value)
	case *acp.SessionConfigBooleanValue:
		return at.SetConfigOptionBool(ctx, req.ConfigID, v.Value)
	}
	return refused("the value of the option is of an unknown type")
}
