// Copied to draft2/client by go generate.

package client

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// The plain methods for sessions call the agent and keep the state of the Conn up to date. Updates
// of sessions that are used only with these methods go only to Client.SessionUpdate.

func (c *Conn) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	defer c.sessions.create()()
	res, err := c.callNew(ctx, req)
	if err == nil {
		c.sessions.setPlain(res.SessionID)
	}
	return res, err
}

func (c *Conn) forkSession(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	defer c.sessions.create()()
	res, err := c.callFork(ctx, req)
	if err == nil {
		c.sessions.setPlain(res.SessionID)
	}
	return res, err
}

func (c *Conn) resumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.callResume(ctx, req, nil)
}

func (c *Conn) cancel(ctx context.Context, n *cancelNotification) error {
	if n == nil {
		n = &cancelNotification{}
	}
	cancelled, stop := c.turns.cancelling(n.SessionID, false)
	defer stop()
	err := methodCancel.Notify(ctx, &c.out, n)
	if err == nil {
		cancelled()
	}
	return err
}

// cancelTurn asks the agent to cancel the work of a session. ctx may be done.
func (c *Conn) cancelTurn(ctx context.Context, id acp.SessionID) {
	// An agent that does not read must not block the caller.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), max(c.opts.CancelGrace, time.Second))
	defer stop()
	if err := c.cancel(ctx, &cancelNotification{SessionID: id}); err != nil {
		c.log.Debug("acp: the turn could not be cancelled", "method", acp.MethodSessionCancel, "error", err)
	}
}

func (c *Conn) closeSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	if req == nil {
		req = &acp.CloseSessionRequest{}
	}
	cancelled, stop := c.turns.cancelling(req.SessionID, true)
	defer stop()
	res, err := methodCloseSession.Call(ctx, &c.out, req, &rpc.CallOptions{
		// The agent may wait for the responses to its questions before it closes the session. They
		// are sent after the close request. If they came before it, the agent would read them as
		// refusals in a turn that continues.
		Sent: cancelled,
	})
	if err == nil {
		c.sessions.end(req.SessionID)
		c.sessionEnded(req.SessionID)
	}
	return res, err
}

func (c *Conn) deleteSession(ctx context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	res, err := methodDeleteSession.Call(ctx, &c.out, req, nil)
	if err == nil && req != nil {
		c.sessions.end(req.SessionID)
		c.sessionEnded(req.SessionID)
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
	return func(yield func(*acp.SessionInfo, error) bool) {
		page := endpoint.ValueOf(req)
		for {
			res, err := c.ListSessions(ctx, &page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range res.Sessions {
				if !yield(&res.Sessions[i], nil) {
					return
				}
			}
			next, more := cursorOf(res.NextCursor)
			if !more {
				return
			}
			if this, ok := cursorOf(page.Cursor); ok && this == next {
				yield(nil, fmt.Errorf("client: the agent returned the cursor %q of the page itself as that of the next page", next))
				return
			}
			page.Cursor = res.NextCursor
		}
	}
}
