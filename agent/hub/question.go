package hub

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// question is a question of the agent: a permission, or a form or web page. One of permission and
// form is set, with the ids that the clients see.
type question struct {
	permission *acp.RequestPermissionRequest
	form       *acp.CreateElicitationRequest
	result     chan any // gets the only answer: a response of the same kind

	// session.mu guards the fields below.
	decided bool
	asked   map[*attachment]context.CancelFunc // by those that were asked: withdraws the question; nil if they will not answer
	timer   *time.Timer                        // runs while nobody is there who may answer
}

// put asks a question and waits for the answer. When ctx is done, because the turn is cancelled, or the
// connection to the agent ends, nobody is asked any more.
func put[R any](ctx context.Context, s *session, ending <-chan struct{}, q *question) (*R, error) {
	q.result = make(chan any, 1)
	q.asked = make(map[*attachment]context.CancelFunc)
	s.mu.Lock()
	if s.closed || len(s.questions) >= s.hub.opts.Limits.Questions {
		s.mu.Unlock()
		return nil, refused("too many questions of this session are open")
	}
	if q.permission != nil {
		s.showCall(&q.permission.ToolCall)
	}
	s.questions = append(s.questions, q)
	for _, a := range s.attached {
		if a.sees() {
			a.push(event{question: q, size: eventSize})
		}
	}
	s.schedule()
	s.mu.Unlock()
	select {
	case answer := <-q.result:
		return answer.(*R), nil
	case <-ctx.Done():
	case <-ending:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.decided { // at the same moment; the answer is recorded, so it holds
		return (<-q.result).(*R), nil
	}
	s.withdraw(q)
	return nil, cmp.Or(context.Cause(ctx), acp.ErrClosed)
}

// showCall shows what a permission request says of its tool call, because clients that are asked show it too. Some agents
// announce a call by the request alone. A call that is over stays so: its end may overtake the request. s.mu must be held.
func (s *session) showCall(u *acp.ToolCallUpdate) {
	before := s.history.ToolCall(u.ToolCallID)
	if before == nil {
		call := &acp.ToolCall{ToolCallID: u.ToolCallID}
		fold.Update(call, u)
		s.ids.item()
		s.show(call, nil)
		return
	}
	after := new(*before)
	if fold.Update(after, u); !fold.Final(before.Status) && !reflect.DeepEqual(before, after) {
		s.show(u, nil)
	}
}

// sees reports whether the questions are put to the attachment. session.mu must be held.
func (a *attachment) sees() bool { return a.role == Control || a.role == watching }

// withdraw ends a question. s.mu must be held.
func (s *session) withdraw(q *question) {
	q.decided = true
	s.questions = slices.DeleteFunc(s.questions, func(x *question) bool { return x == q })
	for a := range q.asked {
		q.withdrawFrom(a)
	}
	set(&q.timer, false, 0, nil)
	s.schedule()
}

// withdrawFrom withdraws the question from a client. session.mu must be held.
func (q *question) withdrawFrom(a *attachment) {
	if stop := q.asked[a]; stop != nil {
		stop()
	}
	delete(q.asked, a)
}

// ask puts the open questions into the queue of an attachment that has come or has got control, and
// withdraws them from one that has lost it. s.mu must be held.
func (s *session) ask(a *attachment) {
	for _, q := range s.questions {
		if !a.sees() {
			q.withdrawFrom(a)
		} else if q.asked[a] == nil {
			a.push(event{question: q, size: eventSize})
		}
	}
	s.schedule()
}

// asking reports whether a client should still be asked. The ctx ends when the question is answered
// or withdrawn; done must be called when the client has responded.
func (s *session) asking(ctx context.Context, a *attachment, q *question) (asked context.Context, done context.CancelFunc, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.decided || a.left || !a.sees() || q.asked[a] != nil {
		return nil, nil, false
	}
	asked, stop := context.WithCancel(ctx)
	q.asked[a] = stop
	return asked, stop, true
}

// abstain notes that a client does not answer a question: it cannot show it, or its response was no answer.
func (s *session) abstain(a *attachment, q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !q.decided && !a.left {
		q.asked[a] = nil
		s.schedule()
	}
}

// answerable reports whether a client is attached that may still answer the question. s.mu must be held.
func (s *session) answerable(q *question) bool {
	return slices.ContainsFunc(s.attached, func(a *attachment) bool {
		stop, asked := q.asked[a]
		return a.role == Control && (!asked || stop != nil)
	})
}

// answer decides a question, if it is still open and the client may answer it. It reports whether the
// answer was the first one. What is not an answer leaves the question open.
func (s *session) answer(ctx context.Context, a *attachment, q *question, res any) bool {
	note := q.check(res)
	if note == nil {
		return false
	}
	note.Principal = a.principal
	role := s.hub.role(ctx, a.principal, s.info())
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.decided || a.left || a.role != Control || role != Control {
		s.hub.log.Debug("a late answer is dropped", "session", string(s.id))
		return false
	}
	s.decide(q, note, res)
	return true
}

// decide records an answer and passes it on. s.mu must be held.
func (s *session) decide(q *question, a *answered, res any) {
	s.recorder.note(note{Answer: a})
	q.result <- res
	s.withdraw(q)
}

// check returns the record of an answer, without the principal, or nil if the response is none: an
// option that was not offered, or a question that the person only dismissed.
func (q *question) check(res any) *answered {
	switch r := res.(type) {
	case *acp.RequestPermissionResponse:
		selected, ok := r.Outcome.(*acp.SelectedPermissionOutcome)
		if ok && slices.ContainsFunc(q.permission.Options, func(o acp.PermissionOption) bool { return o.OptionID == selected.OptionID }) {
			return &answered{ToolCall: q.permission.ToolCall.ToolCallID, Option: selected.OptionID}
		}
	case *acp.CreateElicitationResponse:
		switch r.Action.(type) {
		case *acp.ElicitationAcceptAction:
			return &answered{Action: "accept"}
		case *acp.ElicitationDeclineAction:
			return &answered{Action: "decline"}
		}
	}
	return nil
}

// expire answers a question that nobody was there to answer. It allows nothing.
func (s *session) expire(q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.timer == nil || s.answerable(q) {
		return
	}
	var res any = &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
	if q.permission != nil {
		res = acp.SelectKind(q.permission.Options, acp.PermissionOptionKindRejectOnce)
	}
	note := q.check(res)
	if note == nil && s.running != nil { // the question ends with the turn
		s.cancelLocked("", (*prompt).runs)
		return
	}
	note = cmp.Or(note, &answered{Action: "cancel"})
	note.ByHub = true
	s.decide(q, note, res)
}
