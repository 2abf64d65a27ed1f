// Copied to client/v2 by go generate.

package client

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// errExited is the error of a handler or a sending middleware that called runtime.Goexit.
var errExited = errors.New("client: goroutine ended without a response")

// requestPermission handles session/request_permission. It calls the client, unless the turn is
// cancelled.
func (c *Conn) requestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return askUser(ctx, c, req.SessionID, permissionMatter(req), acp.Cancelled(), c.client.RequestPermission, req)
}

// createElicitation returns the handler of elicitation/create, which calls h unless the turn is
// cancelled. It refuses a mode that was not advertised, as the protocol requires, a URL that is not
// a web page, and a session that is not open.
func (c *Conn) createElicitation(h acp.Elicitor) func(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return func(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		return c.elicit(ctx, h, req)
	}
}

func (c *Conn) elicit(ctx context.Context, h acp.Elicitor, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	mode, scope := "", acp.ElicitationScope(nil)
	switch m := req.Mode.(type) {
	case *acp.ElicitationFormMode:
		mode, scope = "form", m.Scope
	case *acp.ElicitationURLMode:
		mode, scope = "url", m.Scope
		if err := endpoint.CheckWebURL(m.URL); err != nil && !c.remote {
			return nil, rpcerr.InvalidParams(nil).WithDetail("url " + err.Error())
		}
	}
	if p := c.peer.Load(); p != nil && mode != "" && !c.remote && !p.own.Has("elicitation."+mode) {
		return nil, rpcerr.InvalidParams(nil).WithDetail("elicitation mode " + mode + " was not advertised")
	}
	session, ok := scope.(*acp.ElicitationSessionScope)
	if !ok {
		return h.CreateElicitation(ctx, req)
	}
	if !c.remote && !c.HasSession(session.SessionID) {
		return nil, rpcerr.InvalidParams(nil).WithDetail("the session is not open")
	}
	cancelled := &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
	return askUser(ctx, c, session.SessionID, elicitationMatter(session), cancelled, h.CreateElicitation, req)
}

// TurnContext returns a copy of ctx that is also done, with the cause
// [acp.ErrTurnCancelled], when the session's turn is cancelled or, in version 1, when it has
// ended. Use it in a handler other than those of permissions and elicitations that asks the
// user, for example before a write, so that the user is not asked about a turn that is over.
// If the turn is already cancelled, the returned ctx is done. The caller must call stop when
// the user has decided.
func (c *Conn) TurnContext(ctx context.Context, id acp.SessionID) (turn context.Context, stop context.CancelFunc) {
	turn, end := context.WithCancelCause(ctx)
	q := c.turns.ask(id, matter{})
	if q == nil {
		end(acp.ErrTurnCancelled)
		return turn, func() {}
	}
	over := c.turns.over(id)
	go func() { // ends when stop is called, or with ctx or the turn
		defer c.turns.answered(turn, id, q)
		select {
		case <-q.cancelled:
			end(acp.ErrTurnCancelled)
		case <-over:
			end(acp.ErrTurnCancelled)
		case <-turn.Done():
		}
	}()
	return turn, func() { end(context.Canceled) }
}

// askUser calls a handler that asks the user about a session. If the session's turn is cancelled
// before the handler returns, askUser cancels the handler's ctx and returns cancelled at once,
// because a handler that waits for the user may ignore its ctx. Wait still waits for the handler.
func askUser[P, R any](ctx context.Context, c *Conn, id acp.SessionID, about matter, cancelled *R,
	handle func(context.Context, *P) (*R, error), req *P,
) (*R, error) {
	q := c.turns.ask(id, about)
	if q == nil {
		return cancelled, nil
	}
	lingered := rpc.Linger(ctx)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	type outcome struct {
		res *R
		err error
	}
	done := make(chan outcome, 1)
	go func() { // ends when the handler returns and no cancel is being queued
		defer lingered()
		o := outcome{err: errExited}
		defer func() {
			p := recover()
			if p != nil {
				o.err = rpc.Panicked(p) // the engine logs it and sends the response
			}
			if c.turns.answered(ctx, id, q) {
				done <- o
			} else if p != nil {
				c.log.Error("acp: panic in a handler whose question was cancelled", "error", o.err)
			}
		}()
		o.res, o.err = handle(ctx, req)
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-q.cancelled:
		end(acp.ErrTurnCancelled)
		return cancelled, nil
	}
}
