package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Turn is one prompt with the updates of the work on it. It begins when its message becomes
// part of the conversation, and ends when the agent is idle again; if several turns have
// begun by then, they end together. An update goes to the turn that began last. The caller
// must call Updates, Text or Wait, on any goroutine: if the unread updates of a turn exceed
// Limits.Backlog, the connection stops reading. All methods are safe for concurrent use.
//
// The end of a turn is an update. A handler of updates must therefore not wait for a turn.
type Turn struct {
	session *Session
	prompt  *openPrompt // nil if the session was closed before
	feed    talk.Feed[update]
	watch   *talk.IdleWatch // set before the prompt is sent

	accepting sync.Once
	accepted  chan struct{} // closed when response and refusal are set
	response  *acp.PromptResponse
	refusal   error

	ending sync.Once
	done   chan struct{} // closed when idle and err are set
	idle   *acp.IdleStateUpdate
	err    error
}

func newTurn(s *Session) *Turn {
	t := &Turn{session: s, accepted: make(chan struct{}), done: make(chan struct{})}
	t.feed.Init(&s.conn.engine)
	return t
}

// accept records the response to the prompt, or why there is none. Only the first call
// counts.
func (t *Turn) accept(res *acp.PromptResponse, err error) {
	t.accepting.Do(func() {
		t.response, t.refusal = res, err
		close(t.accepted)
	})
}

// finish ends the turn. Only the first call counts.
func (t *Turn) finish(idle *acp.IdleStateUpdate, err error) {
	t.ending.Do(func() {
		t.feed.Close()
		if silent := t.watch.Err(); silent != nil && (err != nil || idle.StopReason == acp.StopReasonCancelled) {
			idle, err = nil, silent
		}
		t.idle, t.err = idle, err
		close(t.done)
	})
}

// Accepted waits until the message of the prompt is part of the conversation and returns the
// agent's response, which has the id of the message. If the prompt fails before that, the
// error is that of [Turn.Wait]; for a prompt that was cancelled while it waited, it is an
// *rpcerr.RequestError with the code -32800.
func (t *Turn) Accepted() (*acp.PromptResponse, error) {
	<-t.accepted
	return t.response, t.refusal
}

// Updates returns an iterator over the turn's updates, in order. If several loops run,
// each update goes to one of them. The iteration ends when the turn has ended and there
// are no more updates; if the turn failed, the last pair is a nil update and the error. A
// loop that ends early drops the remaining updates but does not end the turn: call Wait or
// Cancel.
func (t *Turn) Updates() iter.Seq2[acp.SessionUpdate, error] {
	return t.feed.Updates(t.done, &t.err)
}

// Wait waits until the turn has ended and returns the state with which it ended: the stop
// reason and, if the agent reports it, the usage. By then Options.Sending have handled the
// response, unless the connection has ended. Unless a loop over Updates is running, Wait
// drops the unread updates. It may be called more than once.
//
// If the stop reason is error, Wait returns both the state and an error: the
// *rpcerr.RequestError that the agent reported, if it reported one.
func (t *Turn) Wait() (*acp.IdleStateUpdate, error) {
	t.feed.DropUnread()
	<-t.done
	select {
	case <-t.accepted: // the end may be read before the call has returned
	case <-t.session.conn.engine.Done():
	}
	return t.idle, t.err
}

// Done returns a channel that is closed when the turn has ended, or could not begin. Wait then returns
// at once, unless the response to the prompt is still to come.
func (t *Turn) Done() <-chan struct{} { return t.done }

// Text reads the remaining updates and returns the text of the agent's messages in them,
// without thoughts, tool calls and other updates. The text of a message that the agent
// replaces is replaced. If the turn failed, Text also returns the error; if it ended with
// another stop reason than end_turn, a *[StopError]. Use [Turn.Wait] for the state.
func (t *Turn) Text() (string, error) {
	var order []acp.MessageID
	texts := map[acp.MessageID]*strings.Builder{}
	of := func(id acp.MessageID) *strings.Builder {
		if texts[id] == nil {
			order, texts[id] = append(order, id), new(strings.Builder)
		}
		return texts[id]
	}
	var failed error
	for u, err := range t.Updates() {
		failed = err
		switch u := u.(type) {
		case *acp.AgentMessageChunk:
			of(u.MessageID).WriteString(acp.PlainText(u.Content))
		case *acp.AgentMessage:
			if !u.Content.IsZero() {
				b := of(u.MessageID)
				b.Reset()
				b.WriteString(acp.PlainText(u.Content.Or(nil)...))
			}
		}
	}
	var all strings.Builder
	for _, id := range order {
		all.WriteString(texts[id].String())
	}
	if failed == nil {
		idle, err := t.Wait()
		if failed = err; err == nil {
			if idle.StopReason != acp.StopReasonEndTurn && idle.StopReason != "" {
				failed = &StopError{idle.StopReason}
			}
		}
	}
	return all.String(), failed
}

// Cancel cancels the turn. If the agent holds its prompt because other work of the session is
// in progress, only this prompt is withdrawn: it fails with -32800 and the other work goes on.
// Once the message is part of the conversation, the protocol cannot cancel a single turn:
// Cancel then asks the agent to end the session's foreground work, with the stop reason
// "cancelled", and to refuse all prompts that it holds, as [Session.Cancel] does. If the
// message becomes part of the conversation before the agent has handled the withdrawal, the
// work is cancelled as well.
//
// Cancel does not wait for the end of the turn: call Wait. If the turn has already ended,
// Cancel does nothing.
//
// Protocol: $/cancel_request for session/prompt, session/cancel.
func (t *Turn) Cancel(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	default:
	}
	if t.prompt != nil && t.session.withdraw(t.prompt) {
		return nil
	}
	return t.session.Cancel(ctx)
}

// errNoReason is the error of a turn that the agent ended with an error it does not name.
var errNoReason = errors.New("client: the agent ended the turn with the stop reason error, and gave no reason")

// idleError returns the error of a turn that ends with the state idle.
func idleError(idle *acp.IdleStateUpdate) error {
	switch {
	case idle.StopReason != acp.StopReasonError:
		return nil
	case idle.Error == nil:
		return errNoReason
	}
	// Decoded, and so an error that the agent sent: rpcerr.FromPeer and Explain need to know.
	e := new(rpcerr.RequestError)
	raw, failed := json.Marshal(map[string]any{"code": idle.Error.Code, "message": idle.Error.Message, "data": idle.Error.Data})
	if failed == nil {
		failed = json.Unmarshal(raw, e)
	}
	if failed != nil { // data that cannot be encoded, which was not decoded
		return rpcerr.New(rpcerr.Code(idle.Error.Code), idle.Error.Message, nil).WithCause(failed)
	}
	return e
}
