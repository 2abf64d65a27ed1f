package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
)

// stuckTime is the time after which a turn that continues after its ctx is done is logged.
const stuckTime = 10 * time.Second

// Prompt waits for the earlier prompts of the session, and then makes a turn.
func (c *conn) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := c.agent.hasRoom(ctx); err != nil {
		return nil, err
	}
	if err := agent.AwaitEarlier(ctx); err != nil {
		return nil, err
	}
	if err := c.agent.opts.Auth.ready(ctx); err != nil {
		return nil, err
	}
	s, err := c.session(ctx, req.SessionID)
	if err != nil {
		return nil, err
	}
	return s.prompt(ctx, req.Prompt)
}

// hasRoom returns an error if a prompt can neither run nor wait. The connection decides which
// prompt waits for which, because it knows the order of their arrival. ctx must be that of the
// prompt's handler.
func (a *Agent) hasRoom(ctx context.Context) error {
	limit := max(a.opts.Queue, 0)
	switch {
	case agent.Ahead(ctx) <= limit:
		return nil
	case limit == 0:
		return rpcerr.InvalidRequest(nil).WithDetail("a turn of this session is running: wait for its end, or cancel it")
	}
	return rpcerr.InvalidRequest(nil).WithDetail(fmt.Sprintf("%d prompts of this session wait already: wait for the end of a turn", limit))
}

// prompt makes a turn. The caller ensures that no other turn of the session runs.
func (s *Session) prompt(ctx context.Context, blocks []acp.ContentBlock) (*acp.PromptResponse, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := s.begin(cancel); err != nil {
		return nil, err
	}
	defer s.finish()
	defer s.watch(ctx)()
	if err := s.wake(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	p, err := readPrompt(ctx, blocks, s.workspace)
	if err == nil {
		err = s.refreshTools(ctx)
	}
	cancelled := ctx.Err() != nil // while it waited, or its links were read
	if cancelled {
		p, err = readPrompt(context.WithoutCancel(ctx), blocks, nil)
	}
	if err == nil {
		err = s.begun(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	var reason acp.StopReason
	switch err = s.introduce(context.WithoutCancel(ctx), p); {
	case err != nil:
	case cancelled:
		s.skipped = append(s.skipped, p)
	default:
		reason, err = s.run(ctx, p)
	}
	return s.settle(ctx, reason, err)
}

// wake prepares a session for a turn that may have been idle, or whose disk may have been full.
func (s *Session) wake(ctx context.Context) error {
	s.retry()
	if _, err := s.journal(); err != nil {
		return err
	}
	return cmp.Or(s.tellMissed(ctx), s.out.pay())
}

// begin marks the session as busy. It returns an error if no further turn can begin.
func (s *Session) begin(cancel context.CancelCauseFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return rpcerr.SessionNotFound(string(s.id)).WithCause(s.over)
	}
	s.busy, s.spent = cancel, nil
	return nil
}

// finish ends a turn. It drops the session if the session has ended meanwhile.
func (s *Session) finish() {
	s.mu.Lock()
	s.busy = nil
	over := s.over != nil
	s.mu.Unlock()
	if over {
		s.drop()
	}
}

// watch logs a turn that continues although its ctx is done.
func (s *Session) watch(ctx context.Context) (stop func()) {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { // ends with the turn, or stuckTime after it should have ended
		select {
		case <-over:
		case <-time.After(stuckTime):
			s.agent.log.Warn("a turn goes on although it was cancelled: it must return when its ctx is done", "session", string(s.id))
		}
	})
	return func() { close(over) }
}

// begun stores the begin of a turn and the prompt.
func (s *Session) begun(ctx context.Context, p *Prompt) error {
	id, _ := agent.MessageID(ctx)
	p.MessageID = cmp.Or(id, newMessageID())
	s.out.begin()
	recs := append(s.newSystemPrompt(), record{journal.KindTurn, history.Turn{State: history.Begun}})
	for _, b := range p.Blocks {
		recs = append(recs, record{journal.KindEvent, &acp.UserMessageChunk{MessageID: p.MessageID, Content: b}})
	}
	if err := s.append(recs...); err != nil {
		return err
	}
	s.recorded = s.system
	return nil
}

// introduce gives the session its title, and sends the held notices.
func (s *Session) introduce(ctx context.Context, p *Prompt) error {
	if title := acp.PlainText(p.Blocks...); oneLine(title) != "" && s.Meta().Title == "" {
		if err := s.SetTitle(ctx, title); err != nil {
			return err
		}
	}
	return s.tellHeld(ctx)
}

// run calls Options.Turn or the function of a command.
func (s *Session) run(ctx context.Context, p *Prompt) (reason acp.StopReason, err error) {
	f := s.command(p.Command)
	if f == nil {
		f = s.agent.opts.Turn
		p.Earlier, s.skipped = s.skipped, nil
	}
	err = panics.Guard(func() error { reason, err = f(ctx, s, p); return err })
	return reason, err
}

// settle ends the open message and tool calls of the turn, and stores the end of the turn.
func (s *Session) settle(ctx context.Context, reason acp.StopReason, err error) (*acp.PromptResponse, error) {
	cancelled, why := ctx.Err() != nil, "The turn ended before this call did."
	if cancelled {
		reason, why = acp.StopReasonCancelled, "Cancelled"
	}
	after := context.WithoutCancel(ctx)
	outErr := s.out.settle(after, why)
	end := history.Turn{State: history.Ended, StopReason: cmp.Or(reason, acp.StopReasonEndTurn)}
	if err != nil && !cancelled {
		end.StopReason = ""
	}
	storeErr := s.out.close(after, record{journal.KindTurn, end})
	if lost, ok := errors.AsType[*storageError](errors.Join(storeErr, outErr, err, context.Cause(ctx))); ok {
		return nil, lost // the other errors follow from this one
	}
	if err = cmp.Or(err, outErr); err != nil && !cancelled {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &acp.PromptResponse{StopReason: end.StopReason, Usage: s.spent}, nil
}
