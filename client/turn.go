package client

import (
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// Turn is one prompt with its updates and its response. The caller must call Updates, Text
// or Wait, on any goroutine: if the unread updates of a turn exceed Limits.Backlog, the
// connection stops reading. All methods are safe for concurrent use.
type Turn struct {
	session *Session
	feed    talk.Feed[acp.SessionUpdate]

	done chan struct{} // closed when res and err are set
	res  *acp.PromptResponse
	err  error
}

func newTurn(s *Session) *Turn {
	t := &Turn{session: s, done: make(chan struct{})}
	t.feed.Init(&s.conn.engine)
	return t
}

func (t *Turn) finish(res *acp.PromptResponse, err error) {
	t.feed.Close()
	t.res, t.err = res, err
	close(t.done)
}

// Updates returns an iterator over the turn's updates, in order. If several loops run,
// each update goes to one of them. The iteration ends when the turn has ended and there
// are no more updates; if the turn failed, the last pair is a nil update and the error. A
// loop that ends early drops the remaining updates but does not end the turn: call Wait or
// Cancel.
func (t *Turn) Updates() iter.Seq2[acp.SessionUpdate, error] {
	return t.feed.Updates(t.done, &t.err)
}

// Wait waits until the turn has ended and returns its response or its error. Unless a loop
// over Updates is running, it drops the unread updates. Wait may be called more than once.
func (t *Turn) Wait() (*acp.PromptResponse, error) {
	t.feed.DropUnread()
	<-t.done
	return t.res, t.err
}

// Done returns a channel that is closed when the turn has ended, or could not begin. Wait then returns
// at once.
func (t *Turn) Done() <-chan struct{} { return t.done }

// Text reads the remaining updates and returns the text of the agent's messages in them,
// without thoughts, tool calls and other updates. If the turn failed, Text also returns
// the error; if it ended with another stop reason than end_turn, a *[StopError]. Use
// [Turn.Wait] for the response.
func (t *Turn) Text() (string, error) {
	var b strings.Builder
	for u, err := range t.Updates() {
		if err != nil {
			return b.String(), err
		}
		if chunk, ok := u.(*acp.AgentMessageChunk); ok {
			b.WriteString(acp.PlainText(chunk.Content))
		}
	}
	res, err := t.Wait()
	if err == nil {
		err = stopError(res.StopReason)
	}
	return b.String(), err
}

// Cancel asks the agent to end the turn, which then ends with the stop reason "cancelled".
// If the turn has already ended, Cancel does nothing.
func (t *Turn) Cancel(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	default:
		return t.session.Cancel(ctx)
	}
}

// Prompt sends a prompt and returns the turn that it starts. Prompt returns when the prompt
// is queued for sending, and waits while the queue is full. It returns no error: if the
// prompt cannot be sent, [Turn.Updates] and [Turn.Wait] return the error. The turn fails
// with [acp.ErrTurnRunning] if another turn of the session is in flight, and with
// [ErrSessionClosed] if the session was closed.
//
// If ctx is done, the agent is asked to cancel the turn, and the turn continues for up to
// Options.CancelGrace: its remaining updates arrive, and Wait returns the response. If the
// agent does not respond in that time, the turn fails with the error of ctx. A turn of a silent
// agent is cancelled in the same way, and fails with an *acp.IdleError, see Options.IdleLimit.
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
	if err := s.talk.Begin(&t.feed); err != nil {
		t.finish(nil, err)
		return t
	}
	sent := make(chan struct{})
	onSent := sync.OnceFunc(func() { close(sent) })
	go func() { // ends when the agent responds, the grace after ctx is over, or the connection ends
		defer onSent()
		res, err := (*acp.PromptResponse)(nil), talk.ErrExited
		defer func() { // runs even if a middleware calls runtime.Goexit
			s.talk.End(&t.feed)
			t.finish(res, err)
		}()
		req := &acp.PromptRequest{SessionID: s.id, Prompt: blocks}
		res, err = s.conn.turn(ctx, req, onSent, func(error) { s.talk.End(&t.feed) })
	}()
	<-sent
	return t
}

func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if req != nil {
		c.sessions.SetPlain(string(req.SessionID))
	}
	return c.turn(ctx, req, nil, nil)
}

// turn sends a prompt and waits for its response. It calls sent when the prompt is queued for
// sending. It calls atResponse between the updates that were read before and after the response, or
// when there will be no response.
func (c *Conn) turn(ctx context.Context, req *acp.PromptRequest, sent func(), atResponse func(error)) (*acp.PromptResponse, error) {
	prompt := talk.Prompt{Over: make(chan struct{})}
	id := string(endpoint.Present(&req).SessionID)
	c.turns.Begin(id, &prompt)
	defer c.turns.End(id, &prompt)
	defer c.effects.Begin(ctx, id)()
	grace := max(c.opts.CancelGrace, 0)
	ctx, watch := c.idle.Begin(ctx, id)
	defer watch.End()
	res, err := methodPrompt.Call(ctx, &c.out, req, &rpc.CallOptions{
		Sent: func() {
			c.turns.Sent(&prompt)
			watch.Sent()
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
	if silent := watch.Err(); silent != nil && (err != nil || res.StopReason == acp.StopReasonCancelled) {
		return nil, silent
	}
	return res, err
}
