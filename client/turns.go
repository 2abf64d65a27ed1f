package client

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// turns knows which prompts run and what the agent asks the user meanwhile, by
// session, so that a cancelled turn leaves no question open. The agent waits for the
// answers, and the person has already given the only one that counts.
type turns struct {
	mu   sync.Mutex // guards all below, and what it holds
	open map[acp.SessionID]*openTurns
}

type openTurns struct {
	prompts   map[*runningPrompt]struct{}
	questions map[*question]struct{}
}

type runningPrompt struct{ cancelled bool }

// question is a request to the user that is not answered yet.
type question struct{ cancelled chan struct{} }

func (t *turns) of(id acp.SessionID) *openTurns {
	o := t.open[id]
	if o == nil {
		if t.open == nil {
			t.open = map[acp.SessionID]*openTurns{}
		}
		o = &openTurns{prompts: map[*runningPrompt]struct{}{}, questions: map[*question]struct{}{}}
		t.open[id] = o
	}
	return o
}

// tidyLocked forgets a session in which nothing goes on.
func (t *turns) tidyLocked(id acp.SessionID, o *openTurns) {
	if len(o.prompts) == 0 && len(o.questions) == 0 {
		delete(t.open, id)
	}
}

// begin notes a prompt, end that it is over.
func (t *turns) begin(id acp.SessionID) *runningPrompt {
	p := &runningPrompt{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(id).prompts[p] = struct{}{}
	return p
}

func (t *turns) end(id acp.SessionID, p *runningPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[id]; o != nil {
		delete(o.prompts, p)
		t.tidyLocked(id, o)
	}
}

// cancel notes that the agent was told to end the turns of the session.
func (t *turns) cancel(id acp.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.open[id]
	if o == nil {
		return
	}
	for p := range o.prompts {
		p.cancelled = true
	}
	for q := range o.questions {
		close(q.cancelled)
	}
	clear(o.questions)
	t.tidyLocked(id, o)
}

// ask notes a question. It returns nil when all turns of the session are cancelled, so
// that nobody need be asked any more.
func (t *turns) ask(id acp.SessionID) *question {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.of(id)
	over := len(o.prompts) > 0
	for p := range o.prompts {
		over = over && p.cancelled
	}
	if over {
		return nil
	}
	q := &question{cancelled: make(chan struct{})}
	o.questions[q] = struct{}{}
	return q
}

// answered notes that the question is no longer open.
func (t *turns) answered(id acp.SessionID, q *question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[id]; o != nil {
		delete(o.questions, q)
		t.tidyLocked(id, o)
	}
}

// askUser runs a handler that asks the user something about a session. When the
// session's turn is cancelled meanwhile, the handler's ctx ends and cancelled is
// answered at once, because a handler that waits for a keystroke may take no notice of
// its ctx.
func askUser[P, R any](ctx context.Context, c *Conn, id acp.SessionID, cancelled *R,
	handle func(context.Context, *P) (*R, error), req *P,
) (*R, error) {
	q := c.turns.ask(id)
	if q == nil {
		return cancelled, nil
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	type answer struct {
		res      *R
		err      error
		panicked any
	}
	done, abandoned := make(chan answer), make(chan struct{})
	go func() { // ends when the handler returns
		a := answer{err: errNoAnswer}
		defer func() {
			if p := recover(); p != nil {
				a.panicked = fmt.Sprintf("%s\n\n%s", rpc.PanicText(p), debug.Stack())
			}
			c.turns.answered(id, q)
			select {
			case done <- a:
			case <-abandoned:
				if a.panicked != nil {
					c.log.Error("acp: panic in a handler whose question was cancelled", "panic", a.panicked)
				}
			}
		}()
		a.res, a.err = handle(ctx, req)
	}()
	select {
	case a := <-done:
		if a.panicked != nil {
			panic(a.panicked) // the engine logs it and answers
		}
		return a.res, a.err
	case <-q.cancelled:
		close(abandoned)
		end(acp.ErrTurnCancelled)
		return cancelled, nil
	}
}
