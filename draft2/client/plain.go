package client

import (
	"context"
	"iter"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// The plain methods for sessions call the agent and keep the state of the Conn up to date. Updates
// of sessions that are used only with these methods go only to Client.SessionUpdate.

func (c *Conn) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	defer c.sessions.Create()()
	res, err := methodNewSession.Call(ctx, &c.out, req, nil)
	if err == nil {
		c.sessions.SetPlain(string(res.SessionID))
	}
	return res, err
}

func (c *Conn) forkSession(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	defer c.sessions.Create()()
	res, err := methodForkSession.Call(ctx, &c.out, req, nil)
	if err == nil {
		c.sessions.SetPlain(string(res.SessionID))
	}
	return res, err
}

func (c *Conn) resumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if req != nil {
		c.sessions.SetPlain(string(req.SessionID))
	}
	if endpoint.ValueOf(req).ReplayFrom == nil {
		return c.callResume(ctx, req, nil, nil)
	}
	p, over, err := c.replays.begin(ctx, c, req.SessionID, nil)
	if err != nil {
		return nil, err
	}
	defer over()
	return c.callResume(ctx, req, nil, p)
}

func (c *Conn) cancel(ctx context.Context, n *acp.CancelSessionNotification) error {
	id := string(endpoint.Present(&n).SessionID)
	return c.turns.asked.Cancel(id, func() error { return methodCancel.Notify(ctx, &c.out, n) })
}

// cancelTurn asks the agent to cancel the work of a session. ctx may be done.
func (c *Conn) cancelTurn(ctx context.Context, id acp.SessionID) {
	cancel := func(ctx context.Context) error { return c.cancel(ctx, &acp.CancelSessionNotification{SessionID: id}) }
	talk.CancelTurn(ctx, c.opts.CancelGrace, c.log, cancel)
}

func (c *Conn) closeSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	id := string(endpoint.Present(&req).SessionID)
	cancelled, stop := c.turns.asked.Cancelling(id, true)
	defer stop()
	// The agent may wait for the responses to its questions, and reads those before the request as
	// refusals in a turn that continues.
	res, err := methodCloseSession.Call(ctx, &c.out, req, &rpc.CallOptions{Sent: cancelled})
	if err == nil {
		c.sessions.End(version{c}, id)
	}
	return res, err
}

func (c *Conn) deleteSession(ctx context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	res, err := methodDeleteSession.Call(ctx, &c.out, req, nil)
	if err == nil && req != nil {
		c.sessions.End(version{c}, string(req.SessionID))
	}
	return res, err
}

// Sessions returns an iterator over the stored sessions of the agent that req selects; nil
// selects all. It requests the next page when the previous one has been iterated over. If a
// call fails, the last pair is nil and the error. The Cursor of req, if there is one, is
// where the iteration begins.
//
// Protocol: session/list. The capability is that of [Conn.ListSessions].
func (c *Conn) Sessions(ctx context.Context, req *acp.ListSessionsRequest) iter.Seq2[*acp.SessionInfo, error] {
	first := endpoint.ValueOf(req)
	return talk.Pages((*string)(first.Cursor), func(cursor *string) ([]acp.SessionInfo, *string, error) {
		page := first
		page.Cursor = (*acp.SessionListCursor)(cursor)
		res, err := c.ListSessions(ctx, &page)
		if err != nil {
			return nil, nil, err
		}
		return res.Sessions, (*string)(res.NextCursor), nil
	})
}
