package hub

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/rpcerr"
)

// prompt is a prompt that waits or runs.
type prompt struct {
	from   *attachment // its sender, which does not see it again
	id     acp.MessageID
	blocks []acp.ContentBlock
	done   chan struct{} // closed when res or err is set, and the sender has got what came before
	over   chan struct{} // closed when its turn has ended
	res    *acp.PromptResponse
	err    error

	// session.mu guards the fields below.
	stop      context.CancelFunc // cancels its turn; nil while it waits
	cancelled bool
	begun     bool   // the store has the prompt; what it has not got nobody sees
	echo      string // what the agent may still repeat of the text that was sent
}

// enqueue runs a prompt after those that wait.
func (s *session) enqueue(ctx context.Context, from *attachment, blocks []acp.ContentBlock) (*prompt, error) {
	id, _ := agent.MessageID(ctx)
	p := &prompt{from: from, id: id, blocks: blocks, done: make(chan struct{}), over: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || from.left:
		return nil, notFound(s.id)
	case s.running == nil:
		s.begin(p)
	case len(s.waiting) >= s.hub.opts.Limits.Waiting:
		return nil, refused("too many prompts wait for the turn of this session: wait for a response, or cancel the turn")
	default:
		s.waiting = append(s.waiting, p)
	}
	return p, nil
}

// begin starts a prompt. A hub that has ended does not, and has closed the connection of its sender. s.mu must be held.
func (s *session) begin(p *prompt) {
	ctx, stop := context.WithCancel(s.hub.ctx)
	s.running, p.stop = p, stop
	s.schedule()
	s.hub.do(func() { // ends with the turn, and h.ctx ends the turn
		defer stop()
		res, err := s.send(ctx, p)
		s.finish(p, res, err)
	})
}

// send records a prompt, tells it, sends it at most once and waits for the end of the turn. When ctx is done, the client of the
// agent cancels the turn.
func (s *session) send(ctx context.Context, p *prompt) (*acp.PromptResponse, error) {
	d, err := s.hub.openAtAgent(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := s.tellPrompt(p); err != nil {
		return nil, err
	}
	var res *acp.PromptResponse
	current, err := s.reuse(ctx, d) // the agent may have been started again meanwhile
	if err == nil {
		res, err = current.Prompt(ctx, p.blocks...).Wait()
	}
	return res, agentError(err)
}

// agentError returns the error of a turn for the sender. An error of the agent is passed on.
func agentError(err error) error {
	if _, ok := errors.AsType[*rpcerr.RequestError](err); !ok && errors.Is(err, acp.ErrClosed) {
		return rpcerr.InternalError(nil).WithDetail("the agent ended before it had finished: what it did remains, and the prompt is not sent again").WithCause(err)
	}
	return err
}

// tellPrompt records a prompt as the begin of a turn, and tells it to all but its sender. If it cannot be stored, nobody sees
// anything of it.
func (s *session) tellPrompt(p *prompt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.id == "" || !s.ids.use(p.id) {
		p.id = s.ids.own()
	}
	asked := history.Turn{State: history.Asked}
	var updates []acp.SessionUpdate
	for _, b := range p.blocks {
		u := &acp.UserMessageChunk{MessageID: p.id, Content: b}
		encoded, err := history.Encode(u)
		if err != nil {
			return err
		}
		updates, asked.Prompt = append(updates, u), append(asked.Prompt, encoded)
	}
	before := p.cancelled
	if err := s.recorder.begin(asked, history.Turn{State: history.Begun, Principal: p.from.principal}); err != nil {
		p.cancelled = before // if the store has ended the log: the sender learns that the prompt was refused
		delete(s.ids.used, p.id)
		return history.StoreError(err)
	}
	s.ids.item()
	s.history.Turn()
	for _, u := range updates {
		s.history.Add(u)
		s.push(u, eventSize, p.from) // the history holds it
	}
	p.begun, p.echo = true, acp.PlainText(p.blocks...)
	return nil
}

// finish ends a turn and begins the next.
func (s *session) finish(p *prompt, res *acp.PromptResponse, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.cancelled && err != nil {
		res, err = &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	if p.begun {
		end := history.Turn{State: history.Ended}
		if err != nil {
			s.endCalls()
		} else {
			end.StopReason = res.StopReason
		}
		s.recorder.turn(end)
		s.ids.item()
		s.history.Turn()
	}
	p.res, p.err = res, err
	p.from.push(event{then: func() { close(p.done) }}) // the response follows all updates of the turn
	close(p.over)
	s.running = nil
	if len(s.waiting) > 0 {
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.begin(next)
	}
	s.schedule()
}

// endCalls marks the tool calls that have not ended as failed. s.mu must be held.
func (s *session) endCalls() {
	for _, c := range s.history.OpenCalls() {
		s.show(history.Interrupt(c, "ended"), nil)
	}
}

// cancel cancels the prompts that match: those that wait, and the one that runs. by is the principal that cancels it; empty
// for the hub.
func (s *session) cancel(by string, match func(*prompt) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelLocked(by, match)
}

// cancelLocked is cancel for callers that hold s.mu.
func (s *session) cancelLocked(by string, match func(*prompt) bool) {
	s.waiting = slices.DeleteFunc(s.waiting, func(p *prompt) bool {
		if !match(p) {
			return false
		}
		p.res = &acp.PromptResponse{StopReason: acp.StopReasonCancelled}
		close(p.done)
		return true
	})
	if p := s.running; p != nil && !p.cancelled && match(p) {
		p.cancelled = true
		p.stop()
		s.recorder.note(note{Cancelled: &by})
	}
}

func everyPrompt(*prompt) bool { return true }

// runs reports whether the prompt does not wait any more.
func (p *prompt) runs() bool { return p.stop != nil }

// cancels reports whether a cancel of the client is meant for a prompt: the one that runs, or its own.
func (a *attachment) cancels(p *prompt) bool { return p.runs() || p.from == a }

// echoed reports whether a chunk is the prompt, which the agent repeats at the begin of a turn.
func (p *prompt) echoed(content acp.ContentBlock) bool {
	text, ok := content.(*acp.TextContent)
	if !ok || p.echo == "" {
		return false
	}
	p.echo, ok = strings.CutPrefix(p.echo, text.Text)
	if !ok { // it is something else
		p.echo = ""
	}
	return ok
}

// wait returns the response of the prompt. The turn does not end with the connection of its sender.
func (p *prompt) wait(ctx context.Context, ending <-chan struct{}) (*acp.PromptResponse, error) {
	select {
	case <-p.done:
		return p.res, p.err
	case <-ctx.Done():
	}
	select {
	case <-ending:
	default:
		match := p.from.cancels
		if !errors.Is(context.Cause(ctx), acp.ErrTurnCancelled) { // the client has cancelled its request alone
			match = func(other *prompt) bool { return other == p }
		}
		p.from.session.cancel(p.from.principal, match)
		select {
		case <-p.done:
			return p.res, p.err
		case <-ending:
		}
	}
	return nil, acp.ErrClosed
}
