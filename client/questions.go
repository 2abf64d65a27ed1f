// Copied to draft2/client by go generate.

package client

import (
	"context"
	"errors"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// errExited is the error of a handler or a sending middleware that called runtime.Goexit.
var errExited = errors.New("client: goroutine ended without a response")

// requestPermission handles session/request_permission. It calls the client, unless the turn is
// cancelled.
func (c *Conn) requestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return askUser(ctx, c, req.SessionID, permissionMatter(req), acp.Cancelled(), c.client.RequestPermission, req)
}

// createElicitation returns the handler of elicitation/create, which calls h unless the turn is
// cancelled. It refuses a mode that was not advertised, as the protocol requires, a URL that is not
// a web page, and a session that is not open.
func (c *Conn) createElicitation(h acp.Elicitor) func(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return func(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		return c.elicit(ctx, h, req)
	}
}

func (c *Conn) elicit(ctx context.Context, h acp.Elicitor, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	mode, scope := "", acp.ElicitationScope(nil)
	switch m := req.Mode.(type) {
	case *acp.ElicitationFormMode:
		mode, scope = "form", m.Scope
	case *acp.ElicitationURLMode:
		mode, scope = "url", m.Scope
		if err := endpoint.CheckWebURL(m.URL); err != nil && !c.remote {
			return nil, rpcerr.InvalidParams(nil).WithDetail("url " + err.Error())
		}
	}
	if p := c.peer.Load(); p != nil && mode != "" && !c.remote && !p.own.Has("elicitation."+mode) {
		return nil, rpcerr.InvalidParams(nil).WithDetail("elicitation mode " + mode + " was not advertised")
	}
	session, ok := scope.(*acp.ElicitationSessionScope)
	if !ok {
		return h.CreateElicitation(ctx, req)
	}
	if !c.remote && !c.HasSession(session.SessionID) {
		return nil, rpcerr.InvalidParams(nil).WithDetail("the session is not open")
	}
	cancelled := &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
	return askUser(ctx, c, session.SessionID, elicitationMatter(session), cancelled, h.CreateElicitation, req)
}

// TurnContext returns a copy of ctx that is also done, with the cause
// [acp.ErrTurnCancelled], when the session's turn is cancelled or, in version 1, when it has
// ended. Use it in a handler other than those of permissions and elicitations that asks the
// user, for example before a write, so that the user is not asked about a turn that is over.
// If the turn is already cancelled, the returned ctx is done. The caller must call stop when
// the user has decided.
func (c *Conn) TurnContext(ctx context.Context, id acp.SessionID) (turn context.Context, stop context.CancelFunc) {
	turn, end := context.WithCancelCause(ctx)
	q := c.turns.ask(id, matter{})
	if q == nil {
		end(acp.ErrTurnCancelled)
		return turn, func() {}
	}
	over := c.turns.over(id)
	go func() { // ends when stop is called, or with ctx or the turn
		defer c.turns.answered(turn, id, q)
		select {
		case <-q.cancelled:
			end(acp.ErrTurnCancelled)
		case <-over:
			end(acp.ErrTurnCancelled)
		case <-turn.Done():
		}
	}()
	return turn, func() { end(context.Canceled) }
}

// askUser calls a handler that asks the user about a session. If the session's turn is cancelled
// before the handler returns, askUser cancels the handler's ctx and returns cancelled at once,
// because a handler that waits for the user may ignore its ctx. Wait still waits for the handler.
func askUser[P, R any](ctx context.Context, c *Conn, id acp.SessionID, about matter, cancelled *R,
	handle func(context.Context, *P) (*R, error), req *P,
) (*R, error) {
	q := c.turns.ask(id, about)
	if q == nil {
		return cancelled, nil
	}
	lingered := rpc.Linger(ctx)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	type outcome struct {
		res *R
		err error
	}
	done := make(chan outcome, 1)
	go func() { // ends when the handler returns and no cancel is being queued
		defer lingered()
		o := outcome{err: errExited}
		defer func() {
			p := recover()
			if p != nil {
				o.err = rpc.Panicked(p) // the engine logs it and sends the response
			}
			if c.turns.answered(ctx, id, q) {
				done <- o
			} else if p != nil {
				c.log.Error("acp: panic in a handler whose question was cancelled", "error", o.err)
			}
		}()
		o.res, o.err = handle(ctx, req)
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-q.cancelled:
		end(acp.ErrTurnCancelled)
		return cancelled, nil
	}
}

// question is a request to the user that has no response yet.
type question struct {
	about     matter
	cancelled chan struct{}
}

// leaving are the cancels and closes of a session that are being queued for sending.
type leaving struct {
	count int
	none  chan struct{} // closed when count is 0 again
}

// cancelling must be called before a cancel or a close of the session is sent. The caller must
// call cancelled when that is queued for sending, and stop in any case. A prompt that is sent before
// the call of cancelled is not affected. Questions about background work end only if all is true.
func (t *turns) cancelling(id acp.SessionID, all bool) (cancelled, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.leaving[id]
	if l == nil {
		if t.leaving == nil {
			t.leaving = map[acp.SessionID]*leaving{}
		}
		l = &leaving{none: make(chan struct{})}
		t.leaving[id] = l
	}
	l.count++
	stop = sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if l.count--; l.count == 0 {
			delete(t.leaving, id)
			close(l.none)
		}
	})
	var prompts []*openPrompt
	var questions []*question
	if w := t.open[id]; w != nil {
		for _, p := range w.prompts {
			if p.sent {
				prompts = append(prompts, p)
			}
		}
		for q := range w.questions {
			questions = append(questions, q)
		}
	}
	return func() { t.cancelled(id, prompts, questions, all); stop() }, stop
}

func (t *turns) cancelled(id acp.SessionID, prompts []*openPrompt, questions []*question, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range prompts {
		p.cancelled = true
	}
	w := t.open[id]
	if w == nil {
		return
	}
	if w.allCancelled() { // end the questions that arrived between the two calls
		for q := range w.questions {
			w.cancel(q, all)
		}
	}
	for _, q := range questions {
		w.cancel(q, all)
	}
	t.tidyLocked(id, w)
}

func (w *work) allCancelled() bool {
	for _, p := range w.prompts {
		if !p.cancelled {
			return false
		}
	}
	return true
}

// cancel ends a question, unless it has ended or is about background work.
func (w *work) cancel(q *question, all bool) {
	if _, open := w.questions[q]; open && (all || !w.inBackground(q.about)) {
		delete(w.questions, q)
		close(q.cancelled)
	}
}

// ask records a question. If all turns of the session are cancelled it returns nil, and the user
// must not be asked.
func (t *turns) ask(id acp.SessionID, about matter) *question {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.of(id)
	if len(w.prompts) > 0 && w.allCancelled() && !w.inBackground(about) {
		return nil
	}
	q := &question{about, make(chan struct{})}
	w.questions[q] = struct{}{}
	return q
}

// answered records that the user, or the client, has decided. It reports false if the question was
// cancelled. While a cancel of the session is being queued it waits: a decision that followed the
// cancel would reach an agent that no longer expects one.
func (t *turns) answered(ctx context.Context, id acp.SessionID, q *question) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := t.leaving[id]; l != nil && ctx.Err() == nil; l = t.leaving[id] {
		t.mu.Unlock()
		select {
		case <-l.none:
		case <-ctx.Done():
		}
		t.mu.Lock()
	}
	w := t.open[id]
	if w == nil {
		return false
	}
	_, open := w.questions[q]
	delete(w.questions, q)
	t.tidyLocked(id, w)
	return open
}
