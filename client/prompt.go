package client

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Prompt sends a prompt and returns the turn that it starts. Prompt returns when the prompt
// is queued for sending, and waits while the queue is full. It returns no error: if the
// prompt cannot be sent, [Turn.Updates] and [Turn.Wait] return the error. The turn fails
// with [acp.ErrTurnRunning] if another turn of the session is in flight, and with
// [ErrSessionClosed] if the session was closed.
//
// If ctx is done, the agent is asked to cancel the turn, and the turn continues for up to
// Options.CancelGrace: its remaining updates arrive, and Wait returns the response. If the
// agent does not respond in that time, the turn fails with the error of ctx.
//
//	turn := session.Prompt(ctx, acp.Text("What is in this folder?"))
//	for u, err := range turn.Updates() {
//		if err != nil {
//			return err
//		}
//		if chunk, ok := u.(*acp.AgentMessageChunk); ok {
//			fmt.Print(acp.PlainText(chunk.Content))
//		}
//	}
//	res, err := turn.Wait()
func (s *Session) Prompt(ctx context.Context, blocks ...acp.ContentBlock) *Turn {
	t := newTurn(s)
	if err := s.begin(t); err != nil {
		t.finish(nil, err)
		return t
	}
	sent := make(chan struct{})
	onSent := sync.OnceFunc(func() { close(sent) })
	go func() { // ends when the agent responds, the grace after ctx is over, or the connection ends
		defer onSent()
		res, err := (*acp.PromptResponse)(nil), errExited
		defer func() { // runs even if a middleware calls runtime.Goexit
			s.end(t)
			t.finish(res, err)
		}()
		req := &acp.PromptRequest{SessionID: s.id, Prompt: blocks}
		res, err = s.conn.turn(ctx, req, onSent, func(error) { s.end(t) })
	}()
	<-sent
	return t
}

// begin makes t the turn that receives the session's updates.
func (s *Session) begin(t *Turn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return ErrSessionClosed
	}
	if s.turn != nil {
		return acp.ErrTurnRunning
	}
	s.turn = t
	return nil
}

// end detaches t, so that later updates go to OnUpdate. It is called between the updates that were
// read before and after the response.
func (s *Session) end(t *Turn) {
	s.mu.Lock()
	if s.turn == t {
		s.turn = nil
	}
	s.mu.Unlock()
	t.feed.close()
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
		Vacant:    func() any { return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn} },
		Grace:     grace,
		OnCtxDone: func() { c.cancelTurn(ctx, req.SessionID) },
	})
}
