package adapter

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Prompt accepts a prompt when the turn of the one before has ended, and lets the agent
// work on it.
func (a *adapter) Prompt(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	s, err := a.known(req.SessionID)
	if err != nil {
		return nil, err
	}
	if err := a.accepts(req.Prompt); err != nil {
		return nil, err
	}
	own, err := convert[acp.PromptRequest](req)
	if err != nil {
		return nil, rpcerr.InvalidParams(nil).WithDetail("prompt: the agent cannot read all of its content").WithCause(err)
	}
	return a.above.Session(req.SessionID).Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
		s.begin(own.Prompt)
		defer func() {
			if s.end() {
				a.forgets(req.SessionID)
			}
		}()
		res, err := a.below.Prompt(ctx, own)
		if ctx.Err() != nil {
			s.questionsEnd() // the turn was cancelled, and with it its questions
		}
		if err != nil {
			return "", err
		}
		a.above.Session(req.SessionID).SetTurnUsage((*acp2.Usage)(res.Usage))
		return acp2.StopReason(res.StopReason), nil
	})
}

// accepts returns an error if a prompt has content that the agent did not advertise.
func (a *adapter) accepts(blocks []acp2.ContentBlock) error {
	for _, b := range blocks {
		need := ""
		switch b.(type) {
		case *acp2.ImageContent:
			need = "image"
		case *acp2.AudioContent:
			need = "audio"
		case *acp2.EmbeddedResource:
			need = "embeddedContext"
		}
		if need != "" && !a.has("promptCapabilities."+need) {
			return rpcerr.InvalidParams(nil).WithDetail("prompt: the agent did not advertise session.prompt." + need)
		}
	}
	return nil
}

// turn is the work of the agent on a prompt.
type turn struct {
	echo   echo
	closes bool // the session was closed meanwhile
}

// begin records that the agent works on a prompt.
func (s *session) begin(prompt []acp.ContentBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = &turn{echo: echo{want: prompt}}
	s.messages.end()
}

// end records that the agent has ended its turn. It reports whether the session was closed
// meanwhile.
func (s *session) end() (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed = s.turn.closes
	s.turn = nil
	s.messages.end()
	return closed
}

// closes records that the agent has closed the session. It reports whether a turn is in
// progress, whose last updates reach the client.
func (s *session) closes() (busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.closes = true
	}
	return s.turn != nil
}

// Cancel does nothing: the ctx of the work is done, and with it the call of the agent, which
// has sent a cancel of its own.
func (a *adapter) Cancel(context.Context, *acp2.CancelSessionNotification) error { return nil }
