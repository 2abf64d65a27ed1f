package client

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// Prompt sends a prompt and returns the turn it starts. The prompt is queued for sending
// when Prompt returns, which waits while the queue is full; if it could not be sent,
// Updates and Wait tell. While a turn of the session runs, further ones fail with
// [acp.ErrTurnRunning], and those of a session that was closed with [ErrSessionClosed].
//
// When ctx ends, the agent is asked to cancel the turn and has Options.CancelGrace to
// end it properly, so keep reading: what the agent still has to say arrives, and Wait
// returns its response. After the grace the turn fails with ctx's error.
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
	go func() { // ends when the agent answers, the grace behind ctx is over, or the connection ends
		defer onSent()
		res, err := (*acp.PromptResponse)(nil), errNoAnswer
		defer func() { // also when a middleware ends the goroutine
			s.end(t)
			t.finish(res, err)
		}()
		req := &acp.PromptRequest{SessionID: s.id, Prompt: blocks}
		res, err = s.conn.prompt(ctx, req, onSent, func(error) { s.end(t) })
	}()
	<-sent
	return t
}

// begin makes t the turn that gets the session's updates.
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

// end makes the updates go elsewhere again. It is called at the place of the response
// among the updates.
func (s *Session) end(t *Turn) {
	s.mu.Lock()
	if s.turn == t {
		s.turn = nil
	}
	s.mu.Unlock()
	t.close()
}
