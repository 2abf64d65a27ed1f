package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Prompt sends a prompt and returns the turn it starts. The prompt is on its way when
// Prompt returns; if it could not be sent, Updates and Wait tell. While a turn of the
// session runs, further ones fail with [acp.ErrTurnRunning], and those of a session that
// was closed with [ErrSessionClosed].
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
	sent := newSending()
	go func() { // ends when the agent answers, the grace behind ctx is over, or the connection ends
		defer sent.sent()
		res, err := (*acp.PromptResponse)(nil), errNoAnswer
		defer func() { // also when a middleware ends the goroutine
			s.end(t)
			t.finish(res, err)
		}()
		m := sent.method(wire.Request(acp.ProtocolVersion, acp.MethodSessionPrompt))
		req := &acp.PromptRequest{SessionID: s.id, Prompt: blocks}
		res, err = s.conn.prompt(sent.watch(ctx), req, m, func(error) { s.end(t) })
	}()
	<-sent.done
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
