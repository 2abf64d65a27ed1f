package agent

import (
	"context"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/internal/replay"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// states holds the states of sessions that the Conn has reported to the client. It is
// part of the Conn, so that a Session needs no state.
type states struct {
	mu   sync.Mutex // guards the field below
	open map[acp.SessionID]*state
}

// state is the state of one session. It is removed when the session has no work.
type state struct {
	mu         sync.Mutex // guards all fields except uses; held while an update is sent, so that updates keep the order of the changes
	waiting    int        // requests to the user that are in flight
	working    bool       // foreground work is in progress
	closing    int        // requests to close the session that are being handled
	usage      *acp.Usage // of the foreground work; nil: unknown
	background []acp.BackgroundWork
	uses       int           // guarded by states.mu
	idle       chan struct{} // closed when the foreground work has ended; nil while there is none
	fewer      chan struct{} // closed when less is in progress; nil while nothing waits for that
}

// less wakes the goroutines that wait for less work in progress.
func (st *state) less() {
	if st.fewer != nil {
		close(st.fewer)
		st.fewer = nil
	}
}

// with calls f with the state of a session.
func (s *states) with(id acp.SessionID, f func(*state) error) error {
	s.mu.Lock()
	if s.open == nil {
		s.open = map[acp.SessionID]*state{}
	}
	st := s.open[id]
	if st == nil {
		st = &state{}
		s.open[id] = st
	}
	st.uses++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if st.uses--; st.uses == 0 && !st.working && st.closing == 0 && st.waiting == 0 && len(st.background) == 0 {
			delete(s.open, id)
		}
	}()
	st.mu.Lock()
	defer st.mu.Unlock()
	return f(st)
}

// update returns the update that reports the state to the client.
func (st *state) update() acp.StateUpdate {
	background := slices.Clone(st.background)
	if background == nil {
		background = []acp.BackgroundWork{} // the complete list, which is empty
	}
	switch {
	case st.working && st.waiting > 0:
		return &acp.RequiresActionStateUpdate{Background: background}
	case st.working:
		return &acp.RunningStateUpdate{Background: background}
	}
	return &acp.IdleStateUpdate{Background: background}
}

// SendState sends the current state of the session. A handler of session/resume must call it
// after the replay and before it returns: with its ctx, SendState first sends the marker that ends the
// history.
func (s *Session) SendState(ctx context.Context) error {
	if err := s.conn.replayed(ctx); err != nil {
		return err
	}
	return s.conn.states.with(s.id, func(st *state) error { return s.sendState(ctx, st.update()) })
}

func (s *Session) sendState(ctx context.Context, u acp.StateUpdate) error {
	return s.Update(ctx, &acp.SessionStateUpdate{StateUpdate: u})
}

// Background is work that may continue while the session is idle.
type Background struct {
	session *Session
	item    acp.BackgroundWork
	work    *rpc.Work
	once    sync.Once
	err     error
}

// StartBackground adds an item to the list of the session's background work and sends the
// list. The tool call, terminal or subagent that item names must already have been
// announced. ctx must be the ctx of the handler of session/prompt, or the ctx of the work
// that [Session.Accept] started.
//
// The work outlives the turn. session/cancel does not affect it; session/close cancels its
// Context. While the session is being closed, StartBackground fails with
// [acp.ErrTurnCancelled].
func (s *Session) StartBackground(ctx context.Context, item acp.BackgroundWork) (*Background, error) {
	work, err := rpc.Outlive(ctx, true)
	if err != nil {
		return nil, err
	}
	b := &Background{session: s, item: item, work: work}
	failed, added := errExited, false
	defer func() { // runs even if a middleware calls runtime.Goexit
		switch {
		case added && failed != nil:
			_ = b.End(ctx) // the state that could not be sent is the error to report
		case failed != nil:
			work.End()
		}
	}()
	failed = s.conn.states.with(s.id, func(st *state) error {
		if st.closing > 0 {
			return acp.ErrTurnCancelled
		}
		added = true
		st.background = append(st.background, item)
		return s.sendState(ctx, st.update())
	})
	if failed != nil {
		return nil, failed
	}
	return b, nil
}

// Context returns the ctx of the work. It is done when the session is closed or the
// connection ends.
func (b *Background) Context() context.Context { return b.work.Context() }

// End removes the item from the list and sends the list. The end of the tool call,
// terminal or subagent must be reported first. Calls after the first do nothing and return
// the same error.
func (b *Background) End(ctx context.Context) error {
	b.once.Do(func() {
		defer b.work.End() // runs even if a middleware calls runtime.Goexit
		s := b.session
		b.err = errExited
		b.err = s.conn.states.with(s.id, func(st *state) error {
			i := slices.Index(st.background, b.item)
			st.background = slices.Delete(st.background, i, i+1)
			st.less()
			return s.sendState(ctx, st.update())
		})
	})
	return b.err
}

// SetTurnUsage sets the number of tokens that the work on the current prompt has consumed.
// When the work ends, [Session.Accept] reports it with the state idle. A later call replaces
// it, and nil means unknown. The argument u is copied. If no work on a prompt is in progress,
// SetTurnUsage does nothing. [Session.SendUsage] reports the size of the context window instead.
//
// Protocol: session/update with a state_update.
//
// Unstable: the protocol may change or drop this number.
func (s *Session) SetTurnUsage(u *acp.Usage) {
	var own *acp.Usage
	if u != nil {
		copied := *u
		own = &copied
	}
	_ = s.conn.states.with(s.id, func(st *state) error { // never fails
		if st.working {
			st.usage = own
		}
		return nil
	})
}

// asking calls ask, which waits for the user. Meanwhile the session's state is requires_action if
// foreground work is in progress. A question of background work does not change the state, nor does one
// of a replay: the work waits until the replay is over.
func (s *Session) asking(ctx context.Context, ask func() error) (err error) {
	if rpc.InBackground(ctx) || replay.Of(ctx) != nil {
		return ask()
	}
	if err := s.wait(ctx, 1); err != nil {
		return err
	}
	defer func() { // runs even if a middleware calls runtime.Goexit
		if stateErr := s.wait(ctx, -1); err == nil {
			err = stateErr
		}
	}()
	return ask()
}

// wait adds by to the number of requests to the user that are in flight, and sends the session's
// state if it changes. If the state for a new request cannot be sent, the request is not counted.
func (s *Session) wait(ctx context.Context, by int) error {
	return s.conn.states.with(s.id, func(st *state) error {
		before := st.waiting > 0
		st.waiting += by
		if !st.working || before == (st.waiting > 0) {
			return nil
		}
		err := errExited
		defer func() { // runs even if a middleware calls runtime.Goexit
			if err != nil && by > 0 {
				st.waiting -= by
			}
		}()
		err = s.sendState(ctx, st.update())
		return err
	})
}

// respondToCloseLast makes the response to session/close wait until the work of the session
// has ended, because nothing of the session may follow the response.
func (c *Conn) respondToCloseLast(e *rpc.Entry) {
	handle := e.Handle
	e.Handle = func(ctx context.Context, params any) (any, error) {
		req, ok := params.(*acp.CloseSessionRequest)
		if !ok {
			return handle(ctx, params)
		}
		s := c.Session(req.SessionID)
		defer s.closing(ctx)()
		res, err := handle(ctx, params)
		if err == nil {
			err = s.settle(ctx)
		}
		if err == nil {
			rpc.EndAgain(ctx) // prompts that have arrived since and have not begun
		}
		return res, err
	}
}

// closing lets no more work begin until done is called, and ends the work that has begun since
// session/close was read.
func (s *Session) closing(ctx context.Context) (done func()) {
	add := func(n int) {
		_ = s.conn.states.with(s.id, func(st *state) error { // never fails
			st.closing += n
			return nil
		})
	}
	add(1)
	rpc.EndAgain(ctx)
	return func() { add(-1) }
}

// settle waits until no work of the session is in progress.
func (s *Session) settle(ctx context.Context) error {
	defer rpc.Waits(ctx)()
	for {
		var fewer chan struct{}
		_ = s.conn.states.with(s.id, func(st *state) error { // never fails
			if st.working || len(st.background) > 0 {
				if st.fewer == nil {
					st.fewer = make(chan struct{})
				}
				fewer = st.fewer
			}
			return nil
		})
		if fewer == nil {
			return nil
		}
		select {
		case <-fewer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
