package client

import (
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// turns holds the prompts in flight, and the agent's requests to the user (questions) that have no
// response yet, by session. When a turn is cancelled, its questions end too: the agent waits for
// their responses, and the user has already decided.
type turns struct {
	mu    sync.Mutex // guards the fields below, and what they contain
	open  map[acp.SessionID]*openTurns
	begun uint64 // number of prompts so far
}

type openTurns struct {
	prompts   map[*openPrompt]struct{}
	questions map[*question]struct{}
}

// openPrompt is a prompt in flight.
type openPrompt struct {
	number    uint64
	sent      bool          // it is queued for sending, before any later message
	cancelled bool          // a cancel for it was sent
	over      chan struct{} // closed when it is no longer in flight
}

// question is a request to the user that has no response yet.
type question struct{ cancelled chan struct{} }

func (t *turns) of(id acp.SessionID) *openTurns {
	o := t.open[id]
	if o == nil {
		if t.open == nil {
			t.open = map[acp.SessionID]*openTurns{}
		}
		o = &openTurns{prompts: map[*openPrompt]struct{}{}, questions: map[*question]struct{}{}}
		t.open[id] = o
	}
	return o
}

// tidyLocked removes a session with no prompt in flight and no open question.
func (t *turns) tidyLocked(id acp.SessionID, o *openTurns) {
	if len(o.prompts) == 0 && len(o.questions) == 0 {
		delete(t.open, id)
	}
}

// begin records a prompt.
func (t *turns) begin(id acp.SessionID) *openPrompt {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun++
	p := &openPrompt{number: t.begun, over: make(chan struct{})}
	t.of(id).prompts[p] = struct{}{}
	return p
}

// CurrentTurn returns the number of the turn in flight in a session, or 0 if there is none.
// If there are several, it returns the number of the newest. Each turn of a connection has
// its own number.
//
// With it a client can determine to which turn a request of the agent belongs, so that a
// permission for one turn does not apply to the next.
func (c *Conn) CurrentTurn(id acp.SessionID) uint64 {
	return c.turns.newest(id).number
}

// newest returns the newest prompt of a session, or the zero value.
func (t *turns) newest(id acp.SessionID) (newest openPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[id]; o != nil {
		for p := range o.prompts {
			if p.number > newest.number {
				newest = *p
			}
		}
	}
	return newest
}

// over returns a channel that is closed when the turn in flight ends, or nil if there is no turn.
func (t *turns) over(id acp.SessionID) <-chan struct{} { return t.newest(id).over }

// sent records that a prompt is queued for sending.
func (t *turns) sent(p *openPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.sent = true
}

// end records that a prompt is no longer in flight.
func (t *turns) end(id acp.SessionID, p *openPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(p.over)
	if o := t.open[id]; o != nil {
		delete(o.prompts, p)
		t.tidyLocked(id, o)
	}
}

// cancelling must be called before a cancel for the turns of the session is sent. The caller must
// call cancelled after the cancel is queued for sending. A prompt that is sent between the two
// calls is not affected.
func (t *turns) cancelling(id acp.SessionID) (cancelled func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var prompts []*openPrompt
	var questions []*question
	if o := t.open[id]; o != nil {
		for p := range o.prompts {
			if p.sent {
				prompts = append(prompts, p)
			}
		}
		for q := range o.questions {
			questions = append(questions, q)
		}
	}
	return func() { t.cancelled(id, prompts, questions) }
}

func (t *turns) cancelled(id acp.SessionID, prompts []*openPrompt, questions []*question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range prompts {
		p.cancelled = true
	}
	o := t.open[id]
	if o == nil {
		return
	}
	if o.allCancelled() { // end the questions that arrived between the two calls
		for q := range o.questions {
			o.cancel(q)
		}
	}
	for _, q := range questions {
		o.cancel(q)
	}
	t.tidyLocked(id, o)
}

func (o *openTurns) allCancelled() bool {
	for p := range o.prompts {
		if !p.cancelled {
			return false
		}
	}
	return true
}

// cancel ends a question, unless it has ended.
func (o *openTurns) cancel(q *question) {
	if _, open := o.questions[q]; open {
		delete(o.questions, q)
		close(q.cancelled)
	}
}

// ask records a question. If all turns of the session are cancelled it returns nil, and the user
// must not be asked.
func (t *turns) ask(id acp.SessionID, _ matter) *question {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.of(id)
	if len(o.prompts) > 0 && o.allCancelled() {
		return nil
	}
	q := &question{cancelled: make(chan struct{})}
	o.questions[q] = struct{}{}
	return q
}

// answered records that the question is no longer open.
func (t *turns) answered(id acp.SessionID, q *question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[id]; o != nil {
		delete(o.questions, q)
		t.tidyLocked(id, o)
	}
}
