package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// This file holds what the plain methods for sessions do in addition to the call. Updates
// of sessions that are used with these methods go only to Client.SessionUpdate.

func (c *Conn) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	defer c.sessions.create()()
	res, err := methodNewSession.Call(ctx, &c.out, req, nil)
	if err == nil {
		c.sessions.setPlain(res.SessionID)
	}
	return res, err
}

func (c *Conn) forkSession(ctx context.Context, req *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	defer c.sessions.create()()
	res, err := methodForkSession.Call(ctx, &c.out, req, nil)
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

// callResume sends a resume. It calls atResponse as CallOptions say.
func (c *Conn) callResume(ctx context.Context, req *acp.ResumeSessionRequest, atResponse func(error)) (*acp.ResumeSessionResponse, error) {
	if req == nil {
		req = &acp.ResumeSessionRequest{}
	}
	replay := req.ReplayFrom != nil
	c.turns.reopen(req.SessionID, replay)
	return methodResumeSession.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: func(err error) {
		c.turns.reopened(req.SessionID, replay, err == nil)
		if atResponse != nil {
			atResponse(err)
		}
	}})
}

func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if req == nil {
		req = &acp.PromptRequest{}
	}
	c.sessions.setPlain(req.SessionID)
	p := c.turns.begin(req.SessionID, nil, nil)
	err := errExited
	defer func() { // also when a middleware ends the goroutine
		if err != nil {
			c.turns.drop(req.SessionID, p)
		}
	}()
	// The end of ctx cancels only this prompt, and only as long as it is held: what the agent
	// responds then says whether the message is part of the conversation.
	res, err := c.send(ctx, p, req, func() {}, nil)
	return res, err
}

func (c *Conn) cancel(ctx context.Context, n *acp.CancelSessionNotification) error {
	if n == nil {
		n = &acp.CancelSessionNotification{}
	}
	cancelled := c.turns.cancelling(n.SessionID, false)
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
		// The agent may wait for the responses to its requests to the user before it
		// closes the session. They are sent after the close request: before it, the agent
		// would take them for refusals in work that continues.
		Sent: c.turns.cancelling(req.SessionID, true),
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
