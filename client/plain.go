package client

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// The plain methods for sessions call the agent and keep the state of this file up to date. Updates
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

func (c *Conn) loadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.callLoad(ctx, req, nil)
}

func (c *Conn) resumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.callResume(ctx, req, nil)
}

func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.turn(ctx, req, nil, nil)
}

// turn sends a prompt and waits for its response. It calls sent when the prompt is queued for
// sending. It calls atResponse between the updates that were read before and after the response, or
// when there will be no response.
func (c *Conn) turn(ctx context.Context, req *acp.PromptRequest, sent func(), atResponse func(error)) (*acp.PromptResponse, error) {
	if req == nil {
		req = &acp.PromptRequest{}
	}
	open := c.turns.begin(req.SessionID)
	defer c.turns.end(req.SessionID, open)
	defer c.effects.begin(ctx, c, req.SessionID)()
	grace := max(c.opts.CancelGrace, 0)
	return methodPrompt.Call(ctx, &c.out, req, &rpc.CallOptions{
		Sent: func() {
			c.turns.sent(open)
			if sent != nil {
				sent()
			}
		},
		AtResponse: atResponse,
		// Some agents send an empty response. The turn has ended then, with all its text.
		Vacant: func() any { return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn} },
		Grace:  grace,
		OnCtxDone: func() {
			// An agent that does not read must not block the caller.
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), max(grace, time.Second))
			defer stop()
			if err := c.cancel(ctx, &acp.CancelNotification{SessionID: req.SessionID}); err != nil {
				c.log.Debug("acp: the turn could not be cancelled", "method", acp.MethodSessionCancel, "error", err)
			}
		},
	})
}

func (c *Conn) cancel(ctx context.Context, n *acp.CancelNotification) error {
	if n == nil {
		n = &acp.CancelNotification{}
	}
	cancelled := c.turns.cancelling(n.SessionID)
	err := methodCancel.Notify(ctx, &c.out, n)
	if err == nil {
		cancelled()
	}
	return err
}

func (c *Conn) closeSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	if req == nil {
		req = &acp.CloseSessionRequest{}
	}
	res, err := methodCloseSession.Call(ctx, &c.out, req, &rpc.CallOptions{
		// The agent may wait for the responses to its questions before it closes the session. They
		// are sent after the close request. If they came before it, the agent would read them as
		// refusals in a turn that continues.
		Sent: c.turns.cancelling(req.SessionID),
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
