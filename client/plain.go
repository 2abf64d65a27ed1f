package client

import (
	"context"
	"iter"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// The plain methods for sessions call the agent and keep the state of the Conn up to date. Updates
// of sessions that are used only with these methods go only to Client.SessionUpdate.

func (c *Conn) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	defer c.sessions.Create()()
	res, err := c.callNew(ctx, req)
	if err == nil {
		c.sessions.SetPlain(string(res.SessionID))
	}
	return res, err
}

func (c *Conn) forkSession(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	defer c.sessions.Create()()
	res, err := c.callFork(ctx, req)
	if err == nil {
		c.sessions.SetPlain(string(res.SessionID))
	}
	return res, err
}

func (c *Conn) resumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if req != nil {
		c.sessions.SetPlain(string(req.SessionID))
	}
	return c.callResume(ctx, req, nil)
}

func (c *Conn) cancel(ctx context.Context, n *acp.CancelNotification) error {
	return c.turns.Cancel(string(endpoint.Present(&n).SessionID), func() error { return methodCancel.Notify(ctx, &c.out, n) })
}

// cancelTurn asks the agent to cancel the work of a session. ctx may be done.
func (c *Conn) cancelTurn(ctx context.Context, id acp.SessionID) {
	talk.CancelTurn(ctx, c.opts.CancelGrace, c.log, func(ctx context.Context) error {
		return c.cancel(ctx, &acp.CancelNotification{SessionID: id})
	})
}

func (c *Conn) closeSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	id := string(endpoint.Present(&req).SessionID)
	cancelled, stop := c.turns.Cancelling(id, true)
	defer stop()
	res, err := methodCloseSession.Call(ctx, &c.out, req, &rpc.CallOptions{
		// The agent may wait for the responses to its questions before it closes the session. They
		// are sent after the close request. If they came before it, the agent would read them as
		// refusals in a turn that continues.
		Sent: cancelled,
	})
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
	page := endpoint.ValueOf(req)
	return talk.Pages(given(page.Cursor), func(cursor *string) ([]acp.SessionInfo, *string, error) {
		page := page
		page.Cursor = endpoint.ValueOf(cursor)
		res, err := c.ListSessions(ctx, &page)
		if err != nil {
			return nil, nil, err
		}
		return res.Sessions, given(res.NextCursor), nil
	})
}

// given returns nil for an empty cursor, which is none.
func given(cursor string) *string {
	if cursor == "" {
		return nil
	}
	return &cursor
}
