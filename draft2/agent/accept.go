package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Accept does the work of a handler of session/prompt in the order that the protocol
// requires. It waits until the work on earlier prompts of the session has ended, so that
// prompts are inserted in the order in which they arrived. Then it sends the user's
// message with a new id and the state running, calls work on a new goroutine, and returns
// the response:
//
//	func (a *myAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
//		s := a.conn.Session(req.SessionID)
//		return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
//			id := agent.NewMessageID()
//			return acp.StopReasonEndTurn, s.Message(ctx, id, "Hello.")
//		})
//	}
//
// The ctx of work outlives the response. It is done, with the cause
// [acp.ErrTurnCancelled], when the client cancels or closes the session, and it is done
// when the connection ends. When work returns, Accept sends the state idle with the stop
// reason that work returned. If the client has cancelled the work, or the error of work wraps
// [acp.ErrTurnCancelled], the stop reason is cancelled. Otherwise, if work returned an error
// or panicked, the stop reason is error: the client gets the code, message and data of an
// [rpcerr.RequestError] and only "Internal error" of any other error, whose text is logged.
//
// [Session.SetTurnUsage] adds the tokens that work has consumed to the state idle.
//
// If a prompt is cancelled while it waits, it fails with -32800 and work is not called. A
// prompt that arrives while the session is being closed fails with -32002 or -32800.
func (s *Session) Accept(ctx context.Context, req *acp.PromptRequest, work func(ctx context.Context) (acp.StopReason, error)) (*acp.PromptResponse, error) {
	return s.AcceptAs(ctx, NewMessageID(), req, work)
}

// AcceptAs is like [Session.Accept] with a given id for the user's message, for example the
// id under which the agent stores it. No other message of the session may have that id.
func (s *Session) AcceptAs(ctx context.Context, id acp.MessageID, req *acp.PromptRequest, work func(ctx context.Context) (acp.StopReason, error)) (*acp.PromptResponse, error) {
	w, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	failed := errExited
	defer func() { // runs even if a middleware calls runtime.Goexit
		if failed != nil {
			s.finish(w, acp.StopReasonCancelled, failed)
		}
	}()
	if failed = s.announce(ctx, id, req); failed != nil {
		return nil, failed
	}
	go s.run(w, work) // ends with work, whose ctx ends with the session
	return &acp.PromptResponse{MessageID: id}, nil
}

// announce sends the user's message and the state running.
func (s *Session) announce(ctx context.Context, id acp.MessageID, req *acp.PromptRequest) error {
	if err := s.UserMessage(ctx, id, req.Prompt...); err != nil {
		return err
	}
	return s.SendState(ctx)
}

// errExited reports that nothing was sent because a middleware or an encoding method ended the
// goroutine with runtime.Goexit.
var errExited = errors.New("agent: the goroutine ended while it was sending")

// begin waits until the earlier prompts have been responded to and no work is in progress in
// the session, and marks it as working.
func (s *Session) begin(ctx context.Context) (*rpc.Work, error) {
	defer rpc.Waits(ctx)()
	if err := rpc.AwaitEarlier(ctx); err != nil {
		return nil, err
	}
	for {
		var busy chan struct{}
		var w *rpc.Work
		err := s.conn.states.with(s.id, func(st *state) (err error) {
			if st.closing > 0 {
				return rpcerr.SessionNotFound(string(s.id))
			}
			if st.working {
				busy = st.idle
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if w, err = rpc.Outlive(ctx, false); err != nil {
				return err
			}
			st.working, st.idle = true, make(chan struct{})
			return nil
		})
		if busy == nil {
			return w, err
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// run calls work and reports its end, whatever it does.
func (s *Session) run(w *rpc.Work, work func(context.Context) (acp.StopReason, error)) {
	reason, err := acp.StopReason(""), errors.New("agent: the function given to Accept ended its goroutine: it must return")
	defer func() { // runs even if work calls runtime.Goexit
		if p := recover(); p != nil {
			err = rpc.Panicked(p)
		}
		s.finish(w, reason, err)
	}()
	reason, err = work(w.Context())
	if err == nil && reason == "" {
		reason = acp.StopReasonEndTurn
	}
}

// finish sends the state idle and lets the next prompt in.
func (s *Session) finish(w *rpc.Work, reason acp.StopReason, err error) {
	ctx := w.Context()
	idle := &acp.IdleStateUpdate{StopReason: reason}
	switch {
	case errors.Is(context.Cause(ctx), acp.ErrTurnCancelled), err != nil && ctx.Err() != nil: // cancelled, or the client has left
		idle.StopReason = acp.StopReasonCancelled
	case err != nil:
		idle.StopReason, idle.Error = s.failure(ctx, err)
	}
	sendErr := errExited
	defer func() {
		if sendErr != nil {
			s.conn.log.Debug("acp: the end of the work on a prompt could not be sent", "error", sendErr)
		}
		w.End()
	}()
	sendErr = s.conn.states.with(s.id, func(st *state) error {
		st.working = false
		w.Settle()
		close(st.idle)
		st.idle = nil
		st.less()
		idle.Usage, st.usage = st.usage, nil
		idle.Background = st.update().(*acp.IdleStateUpdate).Background
		return s.sendState(ctx, idle)
	})
}

// failure returns the stop reason and the error that the client gets for an error of work. The
// stop reason is cancelled if the connection ends or if err wraps acp.ErrTurnCancelled: a client may
// cancel a question before it cancels or closes the session.
func (s *Session) failure(ctx context.Context, err error) (acp.StopReason, *acp.Error) {
	engine := &s.conn.engine
	cancelled := false
	fault := engine.Look(acp.MethodSessionPrompt, err, func() {
		cancelled = errors.Is(err, acp.ErrTurnCancelled) || engine.Ordinary(err)
	})
	if cancelled {
		return acp.StopReasonCancelled, nil
	}
	if fault == nil {
		out := new(rpcerr.RequestError)
		fault = engine.Leave(ctx, acp.MethodSessionPrompt, err, func(err error) {
			out, _ = engine.Fault(ctx, err, "acp: the work on a prompt failed")
		})
		fault = cmp.Or(fault, out)
	}
	out := &acp.Error{Code: acp.ErrorCode(fault.Code), Message: fault.ToErrorResponse().Message}
	out.Data, _ = fault.Data.(json.RawMessage)
	return acp.StopReasonError, out
}
