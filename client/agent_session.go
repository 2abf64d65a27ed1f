package client

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// The methods of the agent that open, use and end sessions. Each sends its params as
// they are; nil stands for empty params. The updates of sessions that were opened with
// them go to Client.SessionUpdate alone.

// NewSession starts an empty session. [Conn.StartSession] is the easier form.
//
// Protocol: session/new.
func (c *Conn) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	res, err := c.newSession(ctx, req)
	if err == nil {
		c.sessions.setPlain(res.SessionID)
	}
	return res, err
}

func (c *Conn) newSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return endpoint.Call[acp.NewSessionRequest, acp.NewSessionResponse](ctx, &c.out, acp.MethodSessionNew, req, nil)
}

// LoadSession opens a stored session. The agent replays its history as updates, all of
// which have been handled when LoadSession returns. [Conn.StartLoadedSession] is the
// easier form.
//
// Protocol: session/load. Capability: loadSession.
func (c *Conn) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.loadSession(ctx, req, nil)
}

func (c *Conn) loadSession(ctx context.Context, req *acp.LoadSessionRequest, opts *rpc.CallOptions) (*acp.LoadSessionResponse, error) {
	return endpoint.Call[acp.LoadSessionRequest, acp.LoadSessionResponse](ctx, &c.out, acp.MethodSessionLoad, req, opts)
}

// ResumeSession opens a stored session without a replay. [Conn.StartResumedSession] is
// the easier form.
//
// Protocol: session/resume. Capability: sessionCapabilities.resume.
func (c *Conn) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.resumeSession(ctx, req, nil)
}

func (c *Conn) resumeSession(ctx context.Context, req *acp.ResumeSessionRequest, opts *rpc.CallOptions) (*acp.ResumeSessionResponse, error) {
	return endpoint.Call[acp.ResumeSessionRequest, acp.ResumeSessionResponse](ctx, &c.out, acp.MethodSessionResume, req, opts)
}

// Prompt runs a turn and returns when it is over; by then every update of it has been
// handled. When ctx ends first the agent is asked to cancel the turn, and has
// Options.CancelGrace to end it: an answer within that time is returned, mostly with
// the stop reason "cancelled", else ctx's error. Turns of one session may overlap here;
// what agents make of that differs. [Session.Prompt] is the easier form.
//
// Protocol: session/prompt. Capability: promptCapabilities.image, .audio and
// .embeddedContext for such content.
func (c *Conn) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if req != nil {
		c.sessions.setPlain(req.SessionID)
	}
	return c.prompt(ctx, req, nil, nil)
}

// prompt runs a turn; sent is called when the prompt is queued for sending, and
// atResponse at the place of the answer among the updates, or when there will be none.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest, sent func(), atResponse func(error)) (*acp.PromptResponse, error) {
	if req == nil {
		req = &acp.PromptRequest{}
	}
	turn := c.turns.begin(req.SessionID)
	defer c.turns.end(req.SessionID, turn)
	grace := max(c.opts.CancelGrace, 0)
	return endpoint.Call[acp.PromptRequest, acp.PromptResponse](ctx, &c.out, acp.MethodSessionPrompt, req, &rpc.CallOptions{
		Sent:       sent,
		AtResponse: atResponse,
		Grace:      grace,
		OnCtxDone: func() {
			// A peer that does not read must not hold up the caller.
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), max(grace, time.Second))
			defer stop()
			if err := c.cancel(ctx, &acp.CancelNotification{SessionID: req.SessionID}); err != nil {
				c.log.Debug("acp: turn could not be cancelled", "method", acp.MethodSessionCancel, "error", err)
			}
		},
	})
}

// Cancel asks the agent to end the turns of a session, which then return with the stop
// reason "cancelled". What the agent is asking the user about the session meanwhile is
// answered with cancelled. Without a turn it does nothing.
//
// Protocol: session/cancel.
func (c *Conn) Cancel(ctx context.Context, n *acp.CancelNotification) error { return c.cancel(ctx, n) }

func (c *Conn) cancel(ctx context.Context, n *acp.CancelNotification) error {
	if n == nil {
		n = &acp.CancelNotification{}
	}
	err := endpoint.Notify(ctx, &c.out, acp.MethodSessionCancel, n)
	if err == nil {
		c.turns.cancel(n.SessionID)
	}
	return err
}

// CloseSession ends the turns of a session and frees what it holds. Its history is
// kept.
//
// Protocol: session/close. Capability: sessionCapabilities.close.
func (c *Conn) CloseSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	if req == nil {
		req = &acp.CloseSessionRequest{}
	}
	res, err := endpoint.Call[acp.CloseSessionRequest, acp.CloseSessionResponse](ctx, &c.out, acp.MethodSessionClose, req, &rpc.CallOptions{
		// The agent may wait for the answers to its questions before it closes. They go
		// behind the request: before it, they would be refusals in a turn that goes on.
		Sent: func() { c.turns.cancel(req.SessionID) },
	})
	if err == nil {
		c.sessions.end(req.SessionID)
	}
	return res, err
}

// DeleteSession removes a session from the list. A session that does not exist is not
// an error for most agents; see [Session.Delete].
//
// Protocol: session/delete. Capability: sessionCapabilities.delete.
func (c *Conn) DeleteSession(ctx context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	res, err := endpoint.Call[acp.DeleteSessionRequest, acp.DeleteSessionResponse](ctx, &c.out, acp.MethodSessionDelete, req, nil)
	if err == nil && req != nil {
		c.sessions.end(req.SessionID)
	}
	return res, err
}
