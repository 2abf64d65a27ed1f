package client

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// Prompt sends a prompt and returns its turn. Prompt returns when the prompt is queued for
// sending, and waits while the queue is full. It returns no error: if the prompt cannot be
// sent, [Turn.Updates] and [Turn.Wait] return the error. The turn fails with
// [ErrSessionClosed] if the session was closed.
//
// Prompt may be called while other turns are in progress. The agent then either adds the
// message to the conversation at once, or holds the prompt until it is idle.
//
// If ctx is done before the turn has ended, the turn is cancelled as by [Turn.Cancel], and
// continues for up to Options.CancelGrace: its remaining updates arrive, and Wait returns the
// stop reason. If the agent does not report the end in that time, the turn fails with the
// error of ctx; a prompt that the agent still holds then may become part of the conversation
// later. A turn of a silent agent is cancelled in the same way, and fails with an
// *acp.IdleError, see Options.IdleLimit.
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
//	end, err := turn.Wait()
func (s *Session) Prompt(ctx context.Context, blocks ...acp.ContentBlock) *Turn {
	t := newTurn(s)
	ctx, t.watch = s.conn.idle.Begin(ctx, string(s.id))
	p := s.begin(t)
	t.prompt = p
	if p == nil {
		t.watch.End()
		t.accept(nil, ErrSessionClosed)
		t.finish(nil, ErrSessionClosed)
		return t
	}
	sent := make(chan struct{})
	onSent := sync.OnceFunc(func() { close(sent) })
	go func() { // ends with the turn
		defer t.watch.End()
		defer onSent()
		s.run(ctx, t, p, blocks, onSent)
	}()
	<-sent
	return t
}

// begin records the prompt of t. It returns nil if the session was closed.
func (s *Session) begin(t *Turn) *openPrompt {
	s.talk.Mu.Lock()
	gone, state := s.talk.GoneLocked(), s.settings.state
	s.talk.Mu.Unlock()
	if gone {
		return nil
	}
	return s.conn.turns.begin(s.id, t, state)
}

// run sends the prompt and waits for the end of its turn.
func (s *Session) run(ctx context.Context, t *Turn, p *openPrompt, blocks []acp.ContentBlock, onSent func()) {
	err := talk.ErrExited
	defer func() { // runs even if a middleware calls runtime.Goexit
		if err != nil {
			if silent := t.watch.Err(); silent != nil {
				err = silent
			}
			t.accept(nil, err)
			s.end(t, p, err)
		}
	}()
	// The end of the connection ends the turn. The call returns the response if it has been read,
	// and otherwise the same error.
	owed, expectErr := s.conn.engine.Expect(methodPrompt.Method, string(s.id), func(err error) { s.end(t, p, err) })
	if expectErr == nil {
		defer owed.Met()
	}
	grace := &cancelGrace{session: s}
	var res *acp.PromptResponse
	res, err = s.conn.send(ctx, p, &acp.PromptRequest{SessionID: s.id, Prompt: blocks}, func() { t.watch.Sent(); onSent() }, func() {
		grace.begin()
		if !s.withdraw(p) {
			grace.cancelSession(ctx)
		}
	})
	if err != nil {
		return
	}
	onSent() // a middleware may have responded itself
	t.accept(res, nil)
	if s.conn.turns.insert(p) {
		grace.cancelSession(ctx)
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		grace.begin()
		grace.cancelSession(ctx)
		over := time.NewTimer(time.Until(grace.until))
		defer over.Stop()
		select {
		case <-t.done:
		case <-over.C:
			err = s.conn.engine.CtxError(ctx)
		}
	}
}

// end ends a turn with an error.
func (s *Session) end(t *Turn, p *openPrompt, err error) {
	s.conn.turns.drop(s.id, p)
	t.finish(nil, err)
}

// cancelGrace is the time that a prompt has to end after its ctx is done.
type cancelGrace struct {
	session *Session
	until   time.Time // zero until it begins
	told    bool      // the agent was asked to cancel the session's work
}

func (g *cancelGrace) begin() {
	if g.until.IsZero() {
		g.until = time.Now().Add(max(g.session.conn.opts.CancelGrace, 0))
	}
}

// cancelSession asks the agent to cancel the session's work, unless it was asked before.
func (g *cancelGrace) cancelSession(ctx context.Context) {
	if g.told {
		return
	}
	g.told = true
	g.session.conn.cancelTurn(ctx, g.session.id)
}

func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	c.sessions.SetPlain(string(endpoint.Present(&req).SessionID))
	p := c.turns.begin(req.SessionID, nil, nil)
	err := talk.ErrExited
	defer func() { // runs even if a middleware calls runtime.Goexit
		if err != nil {
			c.turns.drop(req.SessionID, p)
		}
	}()
	// The end of ctx cancels only this prompt, and only while the agent holds it: the response says
	// whether the message is part of the conversation.
	res, err := c.send(ctx, p, req, func() {}, nil)
	return res, err
}

// send sends a prompt and returns the response: its message is part of the conversation. It
// calls sent when the prompt is queued for sending, and onCtxDone as CallOptions say.
func (c *Conn) send(ctx context.Context, p *openPrompt, req *acp.PromptRequest, sent, onCtxDone func()) (*acp.PromptResponse, error) {
	defer c.effects.Begin(ctx, string(req.SessionID))()
	var id acp.MessageID
	res, err := methodPrompt.Call(ctx, &c.out, req, &rpc.CallOptions{
		Cancellable: func(cancel func()) { c.turns.cancellable(p, cancel) },
		Sent: func() {
			c.turns.asked.Sent(&p.Prompt)
			sent()
		},
		Result: func(res any) {
			if res, ok := res.(*acp.PromptResponse); ok {
				id = res.MessageID
			}
		},
		AtResponse: func(err error) {
			if err != nil {
				c.turns.drop(req.SessionID, p)
				return
			}
			c.turns.accepted(req.SessionID, p, id).finish()
		},
		Grace:     max(c.opts.CancelGrace, 0),
		OnCtxDone: onCtxDone,
	})
	if err == nil {
		c.effects.Had(ctx)
	}
	return res, err
}

// The functions below cancel a single prompt, which the protocol allows as long as the agent holds the
// prompt. The request of the prompt is cancelled, and the response reports the outcome.

// withdraw cancels a prompt if the agent seems to hold it: its message is not part of the
// conversation, and the session has other work. It reports false if it did not; a cancel of
// the session is needed then. A prompt without other work is not withdrawn: a cancel of the
// session ends nothing else, and agents that do not support $/cancel_request honour it.
func (s *Session) withdraw(p *openPrompt) bool {
	state := s.state()
	_, idle := state.(*acp.IdleStateUpdate)
	return s.conn.turns.withdraw(s.id, p, state != nil && !idle)
}

func (t *turns) withdraw(id acp.SessionID, p *openPrompt, busy bool) bool {
	t.mu.Lock()
	w := t.open[id]
	held := w != nil && slices.Contains(w.prompts, p) && p.cancel != nil && p.place == 0 && !p.accepted && !p.inserted &&
		(busy || len(w.prompts) > 1)
	cancel := p.cancel
	if held {
		p.withdrawn = true
	}
	t.mu.Unlock()
	if held {
		cancel()
	}
	return held
}

// cancellable records how to cancel the request of a prompt.
func (t *turns) cancellable(p *openPrompt, cancel func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.cancel = cancel
}

// insert records that the prompt has a response, so it can no longer be withdrawn. It reports
// whether it was withdrawn too late, so that its work must be cancelled.
func (t *turns) insert(p *openPrompt) (inVain bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.inserted = true
	return p.withdrawn
}
