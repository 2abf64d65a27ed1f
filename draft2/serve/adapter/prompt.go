package adapter

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Prompt accepts a prompt after the previous turn has ended, and passes it on to the agent.
func (a *adapter) Prompt(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
	if a.refuser != nil {
		if err := a.refuser.RefusesPrompt(ctx); err != nil {
			return nil, err
		}
	}
	s, err := a.known(req.SessionID)
	if err != nil {
		return nil, err
	}
	own, err := convert[acp.PromptRequest](req)
	if err != nil {
		return nil, rpcerr.InvalidParams(nil).WithDetail("prompt: the agent cannot read all of its content").WithCause(err)
	}
	id := agent2.NewMessageID()
	return a.above.Session(req.SessionID).AcceptAs(ctx, id, req, func(ctx context.Context) (acp2.StopReason, error) {
		s.begin(id, own.Prompt)
		defer func() {
			if s.end() {
				a.forgets(req.SessionID)
			}
		}()
		turn, stop := a.withoutEnding(ctx)
		defer stop()
		res, err := a.below.Prompt(turn, own)
		if ctx.Err() != nil {
			s.questionsEnd() // the turn was cancelled, which also cancels its questions
		}
		if err != nil {
			return "", err
		}
		a.above.Session(req.SessionID).SetTurnUsage((*acp2.Usage)(res.Usage))
		return acp2.StopReason(res.StopReason), nil
	})
}

// withoutEnding returns a copy of ctx that the end of the connection to the client does not end: a cancel would be sent, and the
// agent may have clients that go on with the turn. The connection to the agent ends in its place. The caller must call stop.
func (a *adapter) withoutEnding(ctx context.Context) (turn context.Context, stop func()) {
	turn, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unwatch := context.AfterFunc(ctx, func() {
		select {
		case <-a.above.Ending():
			_ = a.below.Close()
		default:
			cancel(context.Cause(ctx))
		}
	})
	return turn, func() { unwatch(); cancel(nil) }
}

// withMessageID is the middleware that sets the value for [agent.MessageID].
func (a *adapter) withMessageID(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if req, ok := params.(*acp.PromptRequest); ok {
			if s := a.lookup(acp2.SessionID(req.SessionID)); s != nil {
				s.mu.Lock()
				if s.turn != nil {
					ctx = agent.WithMessageID(ctx, acp.MessageID(s.turn.message))
				}
				s.mu.Unlock()
			}
		}
		return next(ctx, method, params)
	}
}

// turn is the work of the agent on a prompt.
type turn struct {
	message acp2.MessageID // id of the prompt
	echo    echo
	closes  bool // the session was closed during the turn
}

// begin records that a turn begins.
func (s *session) begin(id acp2.MessageID, prompt []acp.ContentBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = &turn{message: id, echo: echo{want: prompt}}
	s.messages.Close()
}

// end records that the turn has ended. It reports whether the session was closed during the turn.
func (s *session) end() (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed = s.turn.closes
	s.turn = nil
	s.messages.Close()
	return closed
}

// closes records that the agent has closed the session. It reports whether a turn is in progress.
// Its last updates still reach the client.
func (s *session) closes() (busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.closes = true
	}
	return s.turn != nil
}

// Cancel does nothing, because ctx ends the call to the agent, which then sends session/cancel.
func (a *adapter) Cancel(context.Context, *acp2.CancelSessionNotification) error { return nil }
