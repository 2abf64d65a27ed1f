package talk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// ErrExited is the error of a handler or a sending middleware that called runtime.Goexit.
var ErrExited = errors.New("client: goroutine ended without a response")

// question is a request to the user that has no response yet.
type question struct {
	about     Matter
	cancelled chan struct{}
}

// ErrNotOpen is the refusal of a question about a session that is not open.
var ErrNotOpen error = rpcerr.InvalidParams(map[string]any{
	"reason": "unknown_session", "recovery": map[string]string{"hint": "Open the session on this connection first"},
}).WithDetail("the session is not open")

// Ask calls a handler that asks the user about a session. If the session's turn is cancelled
// before the handler returns, Ask cancels the handler's ctx and returns cancelled at once,
// because a handler that waits for the user may ignore its ctx. The end of the connection still
// waits for the handler.
func Ask[R any](ctx context.Context, t *Turns, log *slog.Logger, id string, about Matter, cancelled *R, handle func(context.Context) (*R, error)) (*R, error) {
	q := t.ask(id, about)
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
		o := outcome{err: ErrExited}
		defer func() {
			p := recover()
			if p != nil {
				o.err = rpc.Panicked(p) // the engine logs it and sends the response
			}
			if t.answered(ctx, id, q) {
				done <- o
			} else if p != nil {
				log.Error("acp: panic in a handler whose question was cancelled", "error", o.err)
			}
		}()
		o.res, o.err = handle(ctx)
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-q.cancelled:
		end(wire.ErrTurnCancelled)
		return cancelled, nil
	}
}

// Context returns a copy of ctx that is also done, with the cause wire.ErrTurnCancelled, when the
// session's turn is cancelled or over is closed. If it is already cancelled, the returned ctx is
// done. The caller must call stop when the user has decided.
func (t *Turns) Context(ctx context.Context, id string, over <-chan struct{}) (turn context.Context, stop context.CancelFunc) {
	turn, end := context.WithCancelCause(ctx)
	q := t.ask(id, Matter{})
	if q == nil {
		end(wire.ErrTurnCancelled)
		return turn, func() {}
	}
	go func() { // ends when stop is called, or with ctx or the turn
		defer t.answered(turn, id, q)
		select {
		case <-q.cancelled:
			end(wire.ErrTurnCancelled)
		case <-over:
			end(wire.ErrTurnCancelled)
		case <-turn.Done():
		}
	}()
	return turn, func() { end(context.Canceled) }
}

// ask records a question. If all turns of the session are cancelled it returns nil, and the user
// must not be asked.
func (t *Turns) ask(id string, about Matter) *question {
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
func (t *Turns) answered(ctx context.Context, id string, q *question) bool {
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

// NotOffered returns the error for a choice that the agent did not offer. The agent and Options.OnError get
// its id; logs hold no params.
func NotOffered(log *slog.Logger, id string) error {
	log.Error("acp: the client chose a permission option that was not offered; the error that the agent gets has its id")
	return rpcerr.InternalError(nil).WithDetail(fmt.Sprintf("the client chose the permission option %q, which was not offered", id))
}
