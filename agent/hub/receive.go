package hub

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
)

// update implements receiver. It sends an update in the form that the client supports, or not.
func (c *conn) update(ctx context.Context, a *attachment, u acp.SessionUpdate) error {
	if !c.conn.ClientCapabilities().Has("plan") {
		if u = a.plan.Of(u); u == nil {
			return nil
		}
	}
	err := c.conn.SessionUpdate(ctx, &acp.SessionNotification{SessionID: a.session.id, Update: u})
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		return nil
	}
	if invalid, ok := errors.AsType[*acp.InvalidError](err); ok { // of a tolerated agent, or of an older version
		c.hub.log.Warn("an update is left out", "session", string(a.session.id), "error", invalid)
		return nil
	}
	return err
}

// ask implements receiver.
func (c *conn) ask(ctx context.Context, a *attachment, q *question) {
	s := a.session
	asked, done, ok := s.asking(ctx, a, q)
	if !ok {
		return
	}
	c.hub.do(func() { // ends when the client responds, the question is withdrawn or the attachment ends
		defer done()
		var res any
		var err error
		if q.permission != nil {
			res, err = c.conn.RequestPermission(asked, q.permission)
		} else {
			res, err = c.conn.CreateElicitation(asked, q.form)
		}
		if asked.Err() == nil && (err != nil || !s.answer(asked, a, q, res)) {
			s.abstain(a, q)
		}
	})
}

// entered implements receiver.
func (c *conn) entered(a *attachment) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return acp.ErrClosed
	}
	if err := c.hasRoom(); err != nil {
		return err
	}
	c.attached[a.session.id] = a
	return nil
}

// hasRoom returns an error if the connection can have no more sessions. c.mu must be held.
func (c *conn) hasRoom() error {
	if len(c.attached) >= c.hub.opts.Limits.Connection {
		return refused("this connection has too many sessions: close one of them")
	}
	return nil
}

// left implements receiver.
func (c *conn) left(a *attachment, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.attached, a.session.id)
	if why != nil {
		c.cut(why)
	}
}

// cut ends the connection. why is the reason that Serve returns: ErrSlow or ErrLost. c.mu must be held.
func (c *conn) cut(why error) {
	if c.why != nil || c.ctx.Err() != nil { // it ends already
		return
	}
	c.why = why
	c.hub.log.Warn("the connection of a client is closed", "error", why)
	grace := goneTime
	if errors.Is(why, ErrSlow) { // it would not read the responses
		grace = 0
	}
	c.hub.do(func() { // ends when the responses are written, or after the grace
		ctx, stop := context.WithTimeout(c.hub.ctx, grace)
		defer stop()
		_ = c.conn.Shutdown(ctx)
	})
}
